"""The tools of the recorded assistant: plain functions that compute what they answer from what they are given."""

import json
from typing import Any

from strands import tool
from strands.tools import PythonAgentTool

_QUARTER = {
    ("revenue", "EU"): (1_240_000, 8.5),
    ("revenue", "US"): (2_015_000, 3.1),
    ("profit", "EU"): (310_000, -2.4),
    ("profit", "US"): (455_000, 1.2),
}
_BY_REGION = {"revenue": {"EMEA": 1_200_000, "APAC": 800_000}, "profit": {"EMEA": 210_000, "APAC": 95_000}}
_REGIONS = {"Europe": "EU", "European Union": "EU", "United States": "US"}
_ORDERS = {
    "A-1042": {"status": "shipped", "eta": "2026-12-03", "total": 59.9, "currency": "USD"},
    "A-2077": {"status": "delivered", "eta": "2026-11-20", "total": 18.0, "currency": "USD"},
}
_RATES = {("USD", "EUR"): 0.92, ("USD", "GBP"): 0.79}


class Backend:
    """What the tools work on. Ids go on from conversation to conversation, as they do in a real system.

    ``mail_failures`` is how many e-mails the mail server turns away before it accepts one.
    """

    def __init__(self, first_id: int, mail_failures: int = 0) -> None:
        self._next = first_id
        self._reports: dict[str, dict[str, Any]] = {}
        self._mail_failures = mail_failures

    def tools(self) -> list[Any]:
        """The tools, bound to this backend."""
        return [
            self.filter_data,
            self.summarise,
            self.share_report(),
            self.lookup_order,
            self.create_refund,
            self.create_voucher,
            self.query_sales,
            self.get_exchange_rate,
            self.send_email,
        ]

    def _number(self) -> int:
        self._next += 1
        return self._next

    @tool(name="reports__FilterData")
    def filter_data(self, metric: str, region: str) -> dict[str, Any]:
        """Make a report of one metric in one region over the last quarter.

        Args:
            metric: revenue or profit
            region: EU or US
        """
        code = _REGIONS.get(region, region)
        total, change = _QUARTER[metric, code]
        report = {
            "report": f"R-{self._number()}",
            "metric": metric,
            "region": code,
            "total": total,
            "currency": "EUR" if code == "EU" else "USD",
        }
        self._reports[str(report["report"])] = {**report, "change_percent": change}
        return report

    @tool(name="reports__Summarise")
    def summarise(self, report: str) -> dict[str, Any]:
        """Summarise a report in one line.

        Args:
            report: number of the report
        """
        found = self._reports[report]
        change = found["change_percent"]
        headline = (
            f"{found['region']} {found['metric']} {found['total']:,} {found['currency']}, "
            f"{'up' if change >= 0 else 'down'} {abs(change)} %"
        )
        return {"report": report, "headline": headline, "change_percent": change}

    def share_report(self) -> Any:
        """The tool that shares a report. ``with`` is a word of Python, so it cannot be made from a signature."""

        def share(tool_use: Any, **_: Any) -> Any:
            report, addresses = tool_use["input"]["report"], tool_use["input"]["with"]
            result = {"shared": report in self._reports, "report": report, "with": addresses}
            content = [{"text": json.dumps(result)}]
            return {"toolUseId": tool_use["toolUseId"], "status": "success", "content": content}

        properties = {
            "report": {"type": "string", "description": "number of the report"},
            "with": {"type": "array", "items": {"type": "string"}, "description": "e-mail addresses"},
        }
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        name = "reports__ShareReport"
        spec: Any = {"name": name, "description": "Share a report.", "inputSchema": {"json": schema}}
        return PythonAgentTool(name, spec, share)

    @tool
    def lookup_order(self, order_id: str) -> dict[str, Any]:
        """Look an order up.

        Args:
            order_id: number of the order
        """
        return {"order_id": order_id, **_ORDERS[order_id]}

    @tool
    def create_refund(self, order_id: str, amount: float, reason: str) -> dict[str, Any]:
        """Pay an order's money back.

        Args:
            order_id: number of the order
            amount: how much
            reason: why
        """
        return {"refund_id": f"R-{self._number()}", "state": "pending", "amount": min(amount, _total(order_id))}

    @tool
    def create_voucher(self, order_id: str, amount: float, reason: str) -> dict[str, Any]:
        """Give a shopping voucher for an order.

        Args:
            order_id: number of the order
            amount: how much
            reason: why
        """
        return {"voucher_id": f"V-{self._number()}", "state": "active", "amount": min(amount, _total(order_id))}

    @tool
    def query_sales(self, metric: str, quarter: str, year: int, group_by: str = "") -> dict[str, Any]:
        """Query aggregated sales figures.

        Args:
            metric: revenue or profit
            quarter: Q1 to Q4
            year: four digits
            group_by: region, or nothing for the total
        """
        regions = _BY_REGION[metric]
        period = {"metric": metric, "quarter": quarter, "year": year}
        if group_by == "region":
            return {**period, "rows": [{"region": name, "value": value} for name, value in regions.items()]}
        return {**period, "value": sum(regions.values()), "currency": "USD"}

    @tool
    def get_exchange_rate(self, base: str, target: str) -> dict[str, Any]:
        """Get an exchange rate.

        Args:
            base: currency that is converted
            target: currency it is converted to
        """
        return {"base": base, "target": target, "rate": _RATES[base, target]}

    @tool
    def send_email(self, to: str, subject: str, body: str) -> dict[str, Any]:
        """Send an e-mail.

        Args:
            to: address
            subject: subject line
            body: text
        """
        if self._mail_failures:
            self._mail_failures -= 1
            raise ConnectionError("421 mail server is busy, try again")
        return {"sent": True, "message_id": f"m-{self._number()}", "to": to, "length": len(subject) + len(body)}


def _total(order_id: str) -> float:
    return float(_ORDERS[order_id]["total"])  # type: ignore[arg-type]
