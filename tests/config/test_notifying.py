"""From the configuration to built-in alerting: off unless somebody is told, and no secret is shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.config.effective import effective_yaml
from aem_monitor.config.load import load_config
from aem_monitor.config.notifying import alerting, receivers
from aem_monitor.config.root import Config
from aem_monitor.config.settings import keeping
from aem_monitor.errors import ConfigError
from aem_monitor.metrics.registry import Metrics
from aem_monitor.store import Store
from aem_monitor.store.outbox import ALERTING

KEY = "0123456789abcdef0123456789abcdef"


def loaded(folder: Path, section: Any, environ: dict[str, str] | None = None) -> Config:
    path = folder / "aem-monitor.yaml"
    path.write_text(json.dumps({"alerting": section}))
    return load_config(path, environ or {})


def test_without_a_receiver_it_is_off_and_nothing_waits_for_it(tmp_path: Path) -> None:
    for section in (None, {}, {"receivers": None}, {"source": "staging"}):
        config = loaded(tmp_path, section)
        metrics = Metrics(CollectorRegistry())
        with Store("sqlite://", "a", keeping(config)) as store:
            assert alerting(config, store, metrics) is None
        assert ALERTING not in keeping(config).sinks
        exposed = {family.name for family in metrics.registry.collect() if family.samples}
        assert not any(name.startswith("aem_monitor_alerting_lease") for name in exposed)


def test_with_a_receiver_verdicts_wait_for_it(tmp_path: Path) -> None:
    config = loaded(tmp_path, {"receivers": {"webhook": {"url": "https://receiver.example/hook"}}})
    assert keeping(config).sinks == (ALERTING,)
    with Store("sqlite://", "a", keeping(config)) as store:
        assert alerting(config, store, Metrics(CollectorRegistry())) is not None


def test_all_receivers_are_made_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("key", "token", "secret"):
        (tmp_path / name).write_text(KEY)
    section = {
        "receivers": {
            "webhook": {"url": "https://r.example", "secret_file": "secret", "authorization_file": "token"},
            "alertmanager": {"url": "http://alertmanager:9093", "authorization_file": "token"},
            "pagerduty": {"routing_key_file": "key"},
        }
    }
    assert [one.name for one in receivers(loaded(tmp_path, section))] == ["pagerduty", "alertmanager", "webhook"]


def test_the_key_may_come_from_the_environment_and_is_not_shown(tmp_path: Path) -> None:
    section = {"receivers": {"webhook": {"url": "https://receiver.example/hook?token=hunter2"}}}
    environ = {"AEM_MONITOR__ALERTING__RECEIVERS__PAGERDUTY__ROUTING_KEY": KEY}
    config = loaded(tmp_path, section, environ)
    assert [one.name for one in receivers(config)] == ["pagerduty", "webhook"]
    shown = effective_yaml(config)
    assert KEY not in shown
    assert "hunter2" not in shown
    assert KEY not in repr(config)


@pytest.mark.parametrize("text", ["two\nlines", "ünicode"])
def test_a_header_that_cannot_be_sent_is_refused_by_its_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(text)
    section = {"receivers": {"webhook": {"url": "https://r.example", "authorization_file": "token"}}}
    with pytest.raises(ConfigError, match=r"webhook\.authorization_file: .*token must hold printable ASCII"):
        receivers(loaded(tmp_path, section))


def test_alerts_have_the_job_of_the_rules_unless_another_is_given(tmp_path: Path) -> None:
    for given, job in (({"env": "x"}, "aem-monitor"), ({"job": "canaries"}, "canaries")):
        section = {"receivers": {"alertmanager": {"url": "http://alertmanager:9093", "labels": given}}}
        alertmanager = loaded(tmp_path, section).alerting.receivers.alertmanager
        assert alertmanager is not None
        assert alertmanager.labels == {"job": job, **given}


def test_the_address_of_pagerduty_has_no_path(tmp_path: Path) -> None:
    section = {"receivers": {"pagerduty": {"url": "https://events.pagerduty.com/v2/enqueue", "routing_key": KEY}}}
    with pytest.raises(ConfigError, match="without a path"):
        loaded(tmp_path, section)
