"""What stands in for PagerDuty in the demo."""

from typing import Any

import pytest

from aem_monitor.alerting.http import Poster, Target
from aem_monitor.alerting.notification import About, trial
from aem_monitor.alerting.receivers import PagerDuty
from aem_monitor.demo.pager import Pager, running_pager
from aem_monitor.errors import AemMonitorError

BODY = {**trial(About("demo"), 0.0), "release": "2.0"}
CHANGE = {"event": "change", "source": "demo", "summary": "new", "agent": "a", "release": "2.0", "model": "m", "at": ""}


def tell(pager: Pager, *bodies: dict[str, Any]) -> None:
    """What alerting sends, the way it sends it."""
    receiver = PagerDuty(Poster(Target(pager.url, "alerting.receivers.pagerduty")), "k" * 32)
    for body in bodies:
        receiver.send(body)


def nothing() -> None:
    """A check that finds nothing wrong."""


def test_it_keeps_what_alerting_sends_in_order() -> None:
    assert Pager().page is None
    with running_pager() as pager:
        tell(pager, CHANGE, BODY, {**BODY, "event": "updated"}, {**BODY, "event": "resolved"})
        told = pager.told
    key = BODY["dedup_key"]
    assert [(one.action, one.incident, one.release) for one in told] == [
        ("change", None, "2.0"),
        ("trigger", key, "2.0"),
        ("trigger", key, "2.0"),
        ("resolve", key, None),
    ]
    assert pager.page is told[1]
    assert [one.at for one in told] == sorted(one.at for one in told)


def test_all_is_over_when_every_incident_is_resolved() -> None:
    other = {**BODY, "dedup_key": "other"}
    with running_pager() as pager:
        tell(pager, CHANGE, BODY, other, {**BODY, "event": "resolved"})
        before = pager.all_over
        tell(pager, {**other, "event": "resolved"})
        after = pager.all_over
    assert (before, after) == (False, True)


def test_what_was_waited_for_is_given() -> None:
    with running_pager() as pager:
        tell(pager, BODY)
        assert pager.wait("of an incident", lambda: pager.page, 0.0, nothing) is pager.page


def test_what_does_not_come_is_an_error_that_names_it() -> None:
    with pytest.raises(AemMonitorError, match=r"after 0 seconds .* was not told of an incident; .* --wait"):
        Pager().wait("of an incident", lambda: None, 0.0, nothing)


def test_what_makes_waiting_useless_ends_it() -> None:
    def broken() -> None:
        raise AemMonitorError("no traffic")

    with pytest.raises(AemMonitorError, match="no traffic"):
        Pager().wait("of an incident", lambda: None, 60.0, broken)
