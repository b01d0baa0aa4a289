"""Plays of the example dialog ``sales-report``: one that is right, others that break in different ways."""

from dataclasses import replace

from tests.services.agent import Call, Turn

ASK = Turn(user="Create a sales report for last quarter.", response="Which region should the report cover?")
ANSWER = "The EU, and show revenue. Share it with the board when it is done."


def _filter(metric: str, report: str, total: int) -> Call:
    result = {"report": report, "metric": metric, "region": "EU", "total": total, "currency": "EUR"}
    return Call("reports.FilterData", {"metric": metric, "region": "EU"}, result)


def _summarise(report: str, headline: str, change: float) -> Call:
    return Call(
        "reports.Summarise", {"report": report}, {"report": report, "headline": headline, "change_percent": change}
    )


def _share(report: str) -> Call:
    return Call("reports.ShareReport", {"report": report, "with": ["board@example.com"]}, {"shared": True})


RIGHT = (
    ASK,
    Turn(
        user=ANSWER,
        calls=(
            _filter("revenue", "R-17", 1240000),
            _summarise("R-17", "EU revenue 1,240,000 EUR, up 8.5 %", 8.5),
            _share("R-17"),
        ),
        response="EU revenue last quarter was 1.24 million EUR, up 8.5 %. I shared report R-17 with the board.",
    ),
)
"""Five turns, all right."""

PROFIT = (
    ASK,
    Turn(
        user=ANSWER,
        calls=(
            _filter("profit", "R-18", 310000),
            _summarise("R-18", "EU profit 310,000 EUR, up 2.1 %", 2.1),
            _share("R-18"),
        ),
        response="EU profit last quarter was 310,000 EUR, up 2.1 %. I shared report R-18 with the board.",
    ),
)
"""Turn 2 asks for profit instead of revenue; turns 3 to 5 are built on what that returned."""

NOT_SHARED = (
    ASK,
    Turn(
        user=ANSWER,
        calls=(_filter("revenue", "R-17", 1240000), _summarise("R-17", "EU revenue 1,240,000 EUR, up 8.5 %", 8.5)),
        response="EU revenue last quarter was 1.24 million EUR, up 8.5 %. I shared report R-17 with the board.",
    ),
)
"""Turn 4 never comes, though the reply says so."""

LISTED = (
    ASK,
    Turn(
        user=ANSWER,
        calls=(
            Call("reports.ListData", {"metric": "profit", "region": "EU"}, {"report": "R-18", "total": 310000}),
            _summarise("R-18", "EU profit 310,000 EUR, up 2.1 %", 2.1),
            _share("R-18"),
        ),
        response="EU profit last quarter was 310,000 EUR, up 2.1 %. I shared report R-18 with the board.",
    ),
)
"""Turn 2 takes a tool that no golden dialog knows, in place of the right one; turns 3 to 5 are built on its result."""

SILENT = (ASK, replace(RIGHT[1], response="I shared report R-17 with the board."))
"""The last reply leaves the figures out."""

DELETED = (
    ASK,
    replace(RIGHT[1], calls=(*RIGHT[1].calls, Call("reports.DeleteReport", {"report": "R-17"}, {"deleted": True}))),
)
"""All turns are right, and there is a write too many."""
