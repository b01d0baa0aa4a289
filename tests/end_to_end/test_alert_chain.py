"""What reaches PagerDuty by way of Prometheus and Alertmanager, with the shipped rules and routes.

One story of several agents on one chain, as it happens to an on-call person in some hours: an ordinary hour with
the outcomes of recorded real releases, a model swap, its rollback, an outage of the monitor and its restart, and
canaries that stop.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from tests.end_to_end.alertchain import HOUR, WEEKLY, Chain, Plays, recorded, wait_for
from tests.end_to_end.sales import LISTED, RIGHT
from tests.services.cache import ServiceUnavailableError
from tests.services.pagerduty import Incident

pytestmark = pytest.mark.service

OLD = Plays("sales", "1.0.0", "small-1", [RIGHT, RIGHT, RIGHT, LISTED], 3)
"""A quarter of the runs fails, each with root causes of the reason ``tool_mismatch`` and three cascades."""

SWAPPED = Plays("sales", "2.0.0", "small-2", [RIGHT, LISTED], 3)
"""Another model, with twice as many."""

AIRLINE = Plays("airline", "1.0.0", "gpt-4o", recorded("sierra-4o-air"), 1)
RETAIL = Plays("retail", "1.0.0", "gpt-4o", recorded("mk-4o-l0"), 1)
RETAIL_SWAPPED = Plays("retail", "2.0.0", "gpt-4.1", recorded("mk-41-l0"), 1)
"""A real swap of models that changed next to nothing."""

MONITOR = "aem-monitor"
"""The component of alerts that are about no agent."""

BROKEN = Plays("support", "1.0.0", "small-1", [LISTED], 3)
"""An agent without a past, nothing of which is right."""


@dataclass(frozen=True, slots=True)
class Story:
    """The incidents at the end, and what was seen on the way."""

    incidents: tuple[Incident, ...]
    quiet: tuple[str, ...]
    """Alerts about agents that had paged before the swap."""
    swap: tuple[str, ...]
    """Receivers that were paged about the swap until its cascades and its regression had fired too."""
    symptoms_muted: bool
    outage: tuple[str, ...]
    """Components that were paged about while the monitor was down."""
    support_muted: bool
    faults: tuple[str, ...]

    def of(self, alert: str = "", component: str = "") -> list[Incident]:
        """Those of an alert and of a component, where these are given."""
        return [
            one
            for one in self.incidents
            if alert in ("", one.payload["class"]) and component in ("", one.payload["component"])
        ]


def tell(chain: Chain) -> Story:
    """Play it. What is waited for are events; the only fixed time is that in which nothing should happen."""
    weekly = Plays("sales", "1.0.0", "small-1", [RIGHT], 1)
    chain.start([(OLD, 400, "sales-report"), (RETAIL, 200, "sales-report"), (AIRLINE, 200, "sales-report")])
    chain.traffic.play(OLD, RETAIL_SWAPPED, AIRLINE, (weekly, WEEKLY))
    time.sleep(HOUR / 3)
    quiet = tuple(one.payload["class"] for one in chain.incidents() if one.payload["component"] != MONITOR)

    chain.traffic.play(SWAPPED, RETAIL_SWAPPED, AIRLINE)
    for alert in ("AemRootCauseSpike", "AemReleaseRegression", "AemTurnCorrectnessLow"):
        wait_for(partial(chain.firing, alert, "sales"), alert)
    wait_for(lambda: chain.incidents(agent="sales"), "the page of the swap")
    wait_for(lambda: chain.muted("AemTurnCorrectnessLow", agent="sales"), "the symptom to be muted")
    symptoms_muted = not chain.incidents("AemTurnCorrectnessLow", "sales")
    wait_for(lambda: chain.incidents("AemCanaryStale"), "the page of the stale dialog")
    swap = tuple(one.triggers[0]["routing_key"].strip("0") for one in chain.incidents(agent="sales"))

    chain.traffic.play(OLD, RETAIL_SWAPPED, AIRLINE)
    chain.traffic.send(BROKEN.spans(60))
    wait_for(lambda: chain.prometheus.query('ALERTS{agent="support"}'), "the broken agent to be seen")
    chain.traffic.play()
    before = len(chain.incidents())
    chain.daemon.kill()
    wait_for(lambda: chain.incidents("AemMonitorOutage"), "the page of the outage")
    wait_for(lambda: chain.muted("AemTurnCorrectnessLow", agent="support"), "the broken agent to be muted")
    support_muted = not chain.incidents(agent="support")
    outage = tuple(one.payload["component"] for one in chain.incidents()[before:])

    chain.daemon.start()
    wait_for(lambda: chain.incidents(agent="support"), "what was muted to be told")
    wait_for(lambda: chain.incidents("AemCanariesAbsent"), "the page of canaries that stopped")
    wait_for(lambda: all(one.resolved for one in chain.incidents(agent="sales")), "the end of the swap")
    time.sleep(HOUR / 3)
    return Story(
        tuple(chain.incidents()), quiet, swap, symptoms_muted, outage, support_muted, tuple(chain.pagerduty.faults)
    )


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    chain = Chain(tmp_path_factory.mktemp("chain"))
    try:
        yield tell(chain)
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    finally:
        chain.close()


def test_a_swap_that_doubles_a_reason_is_one_page_which_ends_after_the_rollback(story: Story) -> None:
    assert story.swap == ("pagerduty",)
    (incident,) = story.of(component="sales")
    assert incident.resolved
    details: Any = incident.payload["custom_details"]
    assert (details["agent"], details["release"]) == ("sales", "2.0.0")
    assert "tool_mismatch" in details["what"]
    assert incident.payload["severity"] == "critical"


def test_cascades_are_in_the_page_of_their_root_cause(story: Story) -> None:
    assert story.symptoms_muted
    assert story.of("AemTurnCorrectnessLow", "sales") == []


def test_real_releases_page_nobody(story: Story) -> None:
    assert story.quiet == ()
    assert [one.payload["class"] for name in ("airline", "retail") for one in story.of(component=name)] == []


def test_a_dialog_that_stops_is_stale_and_wakes_nobody(story: Story) -> None:
    first, *_ = story.of("AemCanaryStale")
    assert first.triggers[0]["routing_key"].startswith("pagerduty-low")
    assert WEEKLY in first.payload["custom_details"]["what"]


def test_canaries_that_stop_page(story: Story) -> None:
    (incident,) = story.of("AemCanariesAbsent")
    assert incident.triggers[0]["routing_key"].strip("0") == "pagerduty"


def test_a_monitor_that_is_down_says_nothing_of_the_agents(story: Story) -> None:
    assert set(story.outage) == {MONITOR}
    assert story.support_muted
    assert {one.payload["class"] for one in story.of(component="support")} <= {
        "AemBurnRateSlow",
        "AemTurnCorrectnessLow",
    }


def test_a_restart_pages_nobody_and_the_outage_ends(story: Story) -> None:
    # A machine that is very busy makes further ones: five minutes are two and a half seconds here.
    outages = story.of("AemMonitorOutage")
    assert outages
    assert all(one.resolved for one in outages)
    assert {one.payload["class"] for one in story.of(component=MONITOR)} == {
        "AemMonitorOutage",
        "AemCanaryStale",
        "AemCanariesAbsent",
    }


def test_everything_that_was_sent_keeps_to_the_api(story: Story) -> None:
    assert story.faults == ()
