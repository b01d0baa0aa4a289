"""From the configuration to built-in alerting."""

from pathlib import Path

from aem_monitor.alerting.deciding import Told
from aem_monitor.alerting.detect import Settings
from aem_monitor.alerting.http import Poster, Target
from aem_monitor.alerting.notification import About
from aem_monitor.alerting.receivers import Alertmanager, PagerDuty, Receiver, Webhook
from aem_monitor.alerting.sending import Limits
from aem_monitor.alerting.service import Alerting, AlertingSettings
from aem_monitor.config.alerting import ROUTING_KEY
from aem_monitor.config.root import Config
from aem_monitor.config.secrets import read_secret
from aem_monitor.config.sinks import HEADER_VALUE
from aem_monitor.errors import ConfigError
from aem_monitor.metrics.registry import Metrics
from aem_monitor.store.store import Store


def alerting(config: Config, store: Store, metrics: Metrics) -> Alerting | None:
    """Not started yet; None where it is off. Raises ``ConfigError`` where a secret cannot be read."""
    chosen = config.alerting
    found = receivers(config)
    if not found:
        return None
    pages = config.web.external_url
    settings = AlertingSettings(
        told=Told(
            About(chosen.source),
            chosen.receivers.names,
            config.web.traces,
            None if pages is None else pages.rstrip("/"),
        ),
        detectors=Settings(false_pages=chosen.false_pages, cool_down=chosen.cool_down),
        limits=Limits(float(chosen.max_per_hour), chosen.give_up),
        lease=chosen.lease,
    )
    return Alerting(settings, found, store, metrics)


def receivers(config: Config) -> tuple[Receiver, ...]:
    """Those that are configured; nothing is sent yet. Raises ``ConfigError`` where a secret cannot be read."""
    chosen = config.alerting.receivers
    found: list[Receiver] = []
    if (pagerduty := chosen.pagerduty) is not None:
        key = "alerting.receivers.pagerduty"
        given = pagerduty.routing_key
        if pagerduty.routing_key_file is None and given is not None:
            routing_key = given.get_secret_value()
        else:
            routing_key = _secret(pagerduty.routing_key_file, f"{key}.routing_key_file") or ""
            if not ROUTING_KEY.fullmatch(routing_key):
                raise ConfigError(
                    f"{key}.routing_key_file: {pagerduty.routing_key_file} must hold the 32 letters and digits of an "
                    "integration key"
                )
        target = Target(pagerduty.url, key, {}, pagerduty.timeout, pagerduty.cafile, (routing_key,))
        found.append(PagerDuty(Poster(target), routing_key))
    if (alertmanager := chosen.alertmanager) is not None:
        key = "alerting.receivers.alertmanager"
        headers = _authorization(alertmanager.authorization_file, key)
        poster = Poster(Target(alertmanager.url, key, headers, alertmanager.timeout, alertmanager.cafile))
        found.append(Alertmanager(poster, alertmanager.labels, alertmanager.resolve_after))
    if (webhook := chosen.webhook) is not None:
        key = "alerting.receivers.webhook"
        headers = _authorization(webhook.authorization_file, key)
        poster = Poster(Target(webhook.url.get_secret_value(), key, headers, webhook.timeout, webhook.cafile))
        found.append(Webhook(poster, _secret(webhook.secret_file, f"{key}.secret_file")))
    return tuple(found)


def _authorization(path: Path | None, key: str) -> dict[str, str]:
    value = _secret(path, f"{key}.authorization_file")
    if value is None:
        return {}
    if not HEADER_VALUE.fullmatch(value):
        raise ConfigError(f"{key}.authorization_file: {path} must hold printable ASCII on one line")
    return {"Authorization": value}


def _secret(path: Path | None, key: str) -> str | None:
    return None if path is None else read_secret(path, key)
