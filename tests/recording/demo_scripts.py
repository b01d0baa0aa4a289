"""The conversations of the demo: what users say, and what the scripted models of both releases answer.

Every argument and every figure in a reply that follows from a tool's result is computed from the result that really
came. A fault is put in once; all that goes wrong after it is its consequence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.recording.scripted_model import Call, Exchange, Results, Say, Step

SALES = "sales-report"
REFUND = "refund-damaged-order"
QUARTER = "quarterly-sales"


@dataclass(frozen=True)
class Script:
    """One conversation. ``named`` says whether the canary names its golden dialog on the spans (``aem.dialog.id``)."""

    session: str
    dialog: str
    named: bool
    exchanges: tuple[Exchange, ...]
    mail_failures: int = 0


def call(name: str, **arguments: Any) -> Call:
    """A call whose arguments the conversation fixes, or that are computed where they are functions."""

    def computed(results: Results) -> dict[str, Any]:
        return {key: value(results) if callable(value) else value for key, value in arguments.items()}

    return Call(name, computed)


def say(text: str) -> Say:
    """A fixed reply."""
    return Say(lambda _: text)


def result(tool: str, key: str) -> Callable[[Results], Any]:
    """A value of the latest result of a tool."""
    return lambda results: results[tool][key]


def sales_report(
    session: str, named: bool, ask: str, final: Callable[[Results], str], metric: str = "revenue", region: str = "EU"
) -> Script:
    """The five-turn sales report. Only the metric of its first call is ever wrong."""
    report = result("reports__FilterData", "report")
    steps: tuple[Step, ...] = (
        (call("reports__FilterData", metric=metric, region=region),),
        (call("reports__Summarise", report=report),),
        (call("reports__ShareReport", report=report, **{"with": ["board@example.com"]}),),
        Say(final),
    )
    return Script(
        session,
        SALES,
        named,
        (
            Exchange("Create a sales report for last quarter.", (say(ask),)),
            Exchange("The EU, and show revenue. Share it with the board when it is done.", steps),
        ),
    )


def headline(results: Results) -> str:
    """The reply in the words of the summary."""
    made, summary = results["reports__FilterData"], results["reports__Summarise"]
    return f"Done: {summary['headline']} compared with the quarter before. Report {made['report']} is with the board."


def rounded(results: Results) -> str:
    """The reply with the figure in millions."""
    made, change = results["reports__FilterData"], results["reports__Summarise"]["change_percent"]
    moved = f"{'up' if change >= 0 else 'down'} {abs(change)} %"
    return (
        f"{made['region']} {made['metric']} last quarter was {made['total'] / 1e6:.2f} million {made['currency']}, "
        f"{moved}. I shared report {made['report']} with the board."
    )


def refund(session: str, named: bool, found: str, opened: str, again: str, tool: str = "create_refund") -> Script:
    """A refund of an order. ``opened`` and ``again`` are formatted with the tool's result; only the tool is wrong."""
    total = result("lookup_order", "total")
    return Script(
        session,
        REFUND,
        named,
        (
            Exchange(
                "Where is my order A-1042?",
                (
                    (call("lookup_order", order_id="A-1042"),),
                    Say(lambda results: found.format(**results["lookup_order"])),
                ),
            ),
            Exchange(
                "Please refund it, the box was damaged.",
                (
                    (call(tool, order_id="A-1042", amount=total, reason="box was damaged"),),
                    Say(lambda results: opened.format(**results[tool])),
                ),
            ),
            Exchange("Thanks. What is the refund number again?", (Say(lambda results: again.format(**results[tool])),)),
        ),
    )


def quarter(session: str, named: bool, first: str, mail_failures: int = 0, swap: bool = False) -> Script:
    """Sales figures in euros by e-mail. A mail that the server turned away is sent again."""

    def lines(results: Results) -> list[str]:
        rate = results["get_exchange_rate"]["rate"]
        return [f"{row['region']}: {row['value'] * rate:,.0f} EUR" for row in results["query_sales"]["rows"]]

    def body(results: Results) -> str:
        return "\n".join(lines(results))

    lookups = (
        call("query_sales", metric="revenue", quarter="Q3", year=2024, group_by="region"),
        call("get_exchange_rate", base="USD", target="EUR"),
    )
    mail = (call("send_email", to="dana@example.com", subject="Q3 2024 sales report", body=body),)
    return Script(
        session,
        QUARTER,
        named,
        (
            Exchange(
                "Create a sales report for Q3 2024.",
                (
                    (call("query_sales", metric="revenue", quarter="Q3", year=2024),),
                    Say(lambda results: first.format(**results["query_sales"])),
                ),
            ),
            Exchange(
                "Break it down by region and convert it to euros.",
                (lookups[::-1] if swap else lookups, Say(lambda results: "; ".join(lines(results)) + ".")),
            ),
            Exchange("Email it to Dana.", (*([mail] * (mail_failures + 1)), say("I e-mailed it to dana@example.com."))),
        ),
        mail_failures,
    )


ORDER = "Your order {order_id} has shipped and should arrive on {eta}."
ORDER_OTHERWISE = "Good news: order {order_id} is shipped, you can expect it on {eta}."
OPENED = "I opened refund {refund_id} for {amount:.2f} USD. It is pending."
OPENED_OTHERWISE = "Done. The refund of ${amount:.2f} is pending; its number is {refund_id}."
AGAIN = "Your refund number is {refund_id}."
AGAIN_OTHERWISE = "Of course: {refund_id} is your refund number."
FIRST = "Revenue for Q3 2024 was {value:,} USD."
FIRST_OTHERWISE = "In the third quarter of 2024, revenue came to ${value:,}."
ASK = "Which region should the report cover?"
ASK_OTHERWISE = "Sure. Which region would you like the report to cover?"

BEFORE = (
    sales_report("canary-sales-1", True, ASK, rounded),
    sales_report("canary-sales-2", False, ASK_OTHERWISE, headline, region="Europe"),
    refund("canary-refund-1", True, ORDER, OPENED, AGAIN),
    refund("canary-refund-2", False, ORDER_OTHERWISE, OPENED_OTHERWISE, AGAIN_OTHERWISE),
    quarter("canary-quarter-1", True, FIRST, mail_failures=1),
    quarter("canary-quarter-2", False, FIRST_OTHERWISE),
)
"""The release before the swap: everything is right, though not always in the golden words."""

AFTER = (
    sales_report("canary-sales-3", True, ASK, rounded, metric="profit"),
    sales_report("canary-sales-4", False, ASK_OTHERWISE, headline, region="European Union"),
    refund(
        "canary-refund-3",
        True,
        ORDER,
        "I opened voucher {voucher_id} for {amount:.2f} USD. It is active.",
        "Your voucher number is {voucher_id}.",
        tool="create_voucher",
    ),
    refund("canary-refund-4", False, ORDER_OTHERWISE, OPENED_OTHERWISE, AGAIN_OTHERWISE),
    quarter("canary-quarter-3", True, FIRST_OTHERWISE, swap=True),
    quarter("canary-quarter-4", False, FIRST, mail_failures=1),
)
"""The release after the swap: ``profit`` for ``revenue`` in one report, a voucher for a refund in one conversation."""


def customers(number: int) -> tuple[Script, ...]:
    """Traffic of customers on the same agent; the first happens to say what a canary says."""
    status = Say(lambda results: "It is {status}.".format(**results["lookup_order"]))
    other = (Exchange("Has A-2077 come?", ((call("lookup_order", order_id="A-2077"),), status)),)
    return (
        refund(f"customer-{number}", False, ORDER_OTHERWISE, OPENED_OTHERWISE, AGAIN_OTHERWISE),
        Script(f"customer-{number + 1}", "", False, other),
    )


PLAYED = {
    ("2026.11.1", "canary"): BEFORE,
    ("2026.11.1", "production"): customers(81),
    ("2026.11.2", "canary"): AFTER,
    ("2026.11.2", "production"): customers(83),
}
"""By release and environment the conversations that are recorded."""
