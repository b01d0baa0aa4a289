"""What the tools of the sales report return, by what they are given: JSON texts."""

import json


def filter_data(metric: str, region: str) -> str:
    """The figures of a region."""
    report, total = ("R-17", 1_240_000) if metric == "revenue" else ("R-18", 310_000)
    return json.dumps({"report": report, "metric": metric, "region": region, "total": total, "currency": "EUR"})


def summarise(report: str) -> str:
    """The headline of a report."""
    right = report == "R-17"
    headline = "EU revenue 1,240,000 EUR, up 8.5 %" if right else "EU profit 310,000 EUR, up 2.1 %"
    return json.dumps({"report": report, "headline": headline, "change_percent": 8.5 if right else 2.1})


def share() -> str:
    """Sharing a report."""
    return json.dumps({"shared": True})
