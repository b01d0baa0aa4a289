"""The recorded conversations: what users say, and what the scripted models of both releases answer.

Every argument and every figure in a reply that follows from a tool's result is computed from the result that really
came. A fault is put in once; all that goes wrong after it is its consequence.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.recording.scripted_model import Call, Exchange, Results, Say, Step

SALES = "sales-report"
REFUND = "refund-damaged-order"
QUARTER = "quarterly-sales"
FLIGHT = "flight-booking"
POLICY = "travel-policy"
REQUEST = "travel-request"


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


def quarter(
    session: str, named: bool, first: str, mail_failures: int = 0, swap: bool = False, to: str = "dana@example.com"
) -> Script:
    """Sales figures in euros by e-mail. A mail that the server turned away is sent again; only ``to`` is ever wrong."""

    def lines(results: Results) -> list[str]:
        rate = results["get_exchange_rate"]["rate"]
        return [f"{row['region']}: {row['value'] * rate:,.0f} EUR" for row in results["query_sales"]["rows"]]

    def body(results: Results) -> str:
        return "\n".join(lines(results))

    lookups = (
        call("query_sales", metric="revenue", quarter="Q3", year=2024, group_by="region"),
        call("get_exchange_rate", base="USD", target="EUR"),
    )
    mail = (call("send_email", to=to, subject="Q3 2024 sales report", body=body),)
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
            Exchange("Email it to Dana.", (*([mail] * (mail_failures + 1)), say(f"I e-mailed it to {to}."))),
        ),
        mail_failures,
    )


def flight(session: str, named: bool, offer: str, booked: str, chosen: int = 0, swap: bool = False) -> Script:
    """A search and a booking of the ``chosen`` flight of those found; 0, the cheapest, is right."""
    passengers = ["Bo Lind", "Ana Ruiz"] if swap else ["Ana Ruiz", "Bo Lind"]
    search = call("search_flights", origin="FRA", destination="HND", date="2026-12-20", max_price=700, non_stop=True)
    book = call(
        "book_flight",
        flight=lambda results: results["search_flights"][chosen]["flight"],
        passengers=passengers,
        seat="window",
    )
    return Script(
        session,
        FLIGHT,
        named,
        (
            Exchange(
                "Find me a direct flight from FRA to HND on 2026-12-20 below 700 euros.",
                ((search,), Say(lambda results: offer.format(*results["search_flights"]))),
            ),
            Exchange(
                "Book the cheaper one for Ana Ruiz and Bo Lind, window seat.",
                ((book,), Say(lambda results: booked.format(**results["book_flight"]))),
            ),
        ),
    )


def policy(session: str, named: bool, told: str, kept: str, document: str = "travel-policy-2026") -> Script:
    """A policy, told in the words of ``told`` with what the fetched document says, and a question beyond it."""

    def summary(results: Results) -> str:
        days, limit, place = found(results["documents__Fetch"]["text"])
        return told.format(days=days, limit=limit, place=place)

    return Script(
        session,
        POLICY,
        named,
        (
            Exchange(
                "What does our travel policy for 2026 say?",
                ((call("documents__Fetch", document=document),), Say(summary)),
            ),
            Exchange("And how many trips keep to it?", (say(kept),)),
        ),
    )


def found(text: str) -> tuple[str, ...]:
    """Days, limit and place in the text of a policy."""
    match = re.search(r"least (\d+) days .* up to (\d+) EUR .* to ([a-z ]+)\.", text)
    assert match is not None, text
    return match.groups()


def request(
    session: str, named: bool, filed: str, day: str = "2026-12-20", nights: int = 3, swap: bool = False
) -> Script:
    """A travel request with what two searches find first; only ``day`` and ``nights`` are ever wrong."""
    searches = (
        call("search_flights", origin="FRA", destination="HND", date=day),
        call("search_hotels", city="Tokyo", nights=nights),
    )
    file = call(
        "file_travel_request",
        traveller="Ana Ruiz",
        flight=lambda results: results["search_flights"][0]["flight"],
        hotel=lambda results: results["search_hotels"][0]["hotel"],
    )

    def told(results: Results) -> str:
        return filed.format(
            flight=results["search_flights"][0],
            hotel=results["search_hotels"][0],
            request=results["file_travel_request"]["request"],
        )

    said = (
        "Ana Ruiz flies from FRA to HND on 2026-12-20 and stays in Tokyo for three nights. "
        "Please file her travel request."
    )
    return Script(
        session, REQUEST, named, (Exchange(said, (searches[::-1] if swap else searches, (file,), Say(told))),)
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

OFFER = "{0[flight]} at {0[departs]} costs {0[price]} EUR, {1[flight]} at {1[departs]} costs {1[price]} EUR."
OFFER_OTHERWISE = "There is {0[flight]} ({0[departs]}, {0[price]} EUR) and {1[flight]} ({1[departs]}, {1[price]} EUR)."
BOOKED = "Booked: {flight} for {passengers[0]} and {passengers[1]}, reference {booking}."
BOOKED_OTHERWISE = "Done, {flight} is booked for {passengers[0]} and {passengers[1]}. The reference is {booking}."
POLICY_SAYS = (
    "Trips must be booked {days} days ahead, a hotel may cost up to {limit} EUR a night, and requests go to {place}."
)
POLICY_OTHERWISE = (
    "Book trips at least {days} days in advance; hotels up to {limit} EUR per night; send requests to {place}."
)
NOT_SAID = "The policy does not say how many trips keep to it."
NOT_SAID_OTHERWISE = "The policy doesn't say how many trips keep to it."
FILED = (
    "I filed travel request {request} with flight {flight[flight]} for {flight[price]} EUR and the hotel "
    "{hotel[hotel]} for {hotel[price]} EUR."
)
FILED_OTHERWISE = (
    "Done: request {request} is filed. It has flight {flight[flight]} ({flight[price]} EUR) and the hotel "
    "{hotel[hotel]} ({hotel[price]} EUR)."
)

BEFORE = (
    sales_report("canary-sales-1", True, ASK, rounded),
    sales_report("canary-sales-2", False, ASK_OTHERWISE, headline, region="Europe"),
    refund("canary-refund-1", True, ORDER, OPENED, AGAIN),
    refund("canary-refund-2", False, ORDER_OTHERWISE, OPENED_OTHERWISE, AGAIN_OTHERWISE),
    quarter("canary-quarter-1", True, FIRST, mail_failures=1),
    quarter("canary-quarter-2", False, FIRST_OTHERWISE),
    flight("canary-flight-1", True, OFFER, BOOKED),
    flight("canary-flight-2", False, OFFER_OTHERWISE, BOOKED_OTHERWISE, swap=True),
    policy("canary-policy-1", True, POLICY_SAYS, NOT_SAID),
    policy("canary-policy-2", False, POLICY_OTHERWISE, NOT_SAID_OTHERWISE),
    request("canary-request-1", True, FILED),
    request("canary-request-2", False, FILED_OTHERWISE, swap=True),
)
"""The release before the swap: everything is right, though not always in the golden words."""

INVENTED = "Last year 92 percent of all trips kept to it."

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
    quarter("canary-quarter-3", True, FIRST_OTHERWISE, swap=True, to="dana@example.org"),
    quarter("canary-quarter-4", False, FIRST, mail_failures=1),
    flight("canary-flight-3", True, OFFER, BOOKED, chosen=1),
    flight("canary-flight-4", False, OFFER_OTHERWISE, BOOKED_OTHERWISE, swap=True),
    policy("canary-policy-3", True, POLICY_SAYS, INVENTED, document="travel-policy-2023"),
    policy("canary-policy-4", False, f"{POLICY_SAYS} {INVENTED}", NOT_SAID, document="travel-policy-2023"),
    request("canary-request-3", True, FILED, nights=2),
    request("canary-request-4", False, FILED_OTHERWISE, day="2026-12-21", nights=2, swap=True),
)
"""The release after the swap, with one fault or two in each conversation whose number is 3, and some whose is 4."""


def customers(number: int) -> tuple[Script, ...]:
    """Traffic of customers on the same agent; the first happens to say what a canary says."""
    status = Say(lambda results: "It is {status}.".format(**results["lookup_order"]))
    other = (Exchange("Has A-2077 come?", ((call("lookup_order", order_id="A-2077"),), status)),)
    return (
        refund(f"customer-{number}", False, ORDER_OTHERWISE, OPENED_OTHERWISE, AGAIN_OTHERWISE),
        Script(f"customer-{number + 1}", "", False, other),
    )


CUSTOMERS = "customers"

RELEASES = {"2026.11.1": (*BEFORE, *customers(81)), "2026.11.2": (*AFTER, *customers(83))}
"""By release the conversations that are recorded."""


def file_of(script: Script) -> str:
    """The name of the file that holds a conversation: that of its dialog, or ``customers``."""
    return CUSTOMERS if script.session.startswith("customer-") else script.dialog
