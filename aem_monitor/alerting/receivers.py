"""Those who are told: PagerDuty, Alertmanager, a webhook.

Each takes the bodies of ``notification`` and puts them the way its own interface wants them.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from aem_monitor.alerting.faults import ALERTMANAGER, PAGERDUTY, WEBHOOK
from aem_monitor.alerting.http import Poster

_LONGEST_SUMMARY: Final = 1024
_MOST_BYTES: Final = 500_000
"""PagerDuty takes 512 KB with everything."""

ALERT_NAMES: Final[Mapping[str, str]] = {
    "root_cause_spike": "AemRootCauseSpike",
    "release_regression": "AemReleaseRegression",
    "drift": "AemReleaseDrift",
}
"""Named as the rules for Prometheus are, so that Alertmanager puts both into one group: one incident, one page."""


class Receiver(Protocol):
    """One who is told. Called by one thread at a time."""

    @property
    def name(self) -> str:
        """Its key in the configuration."""

    def send(self, body: Mapping[str, Any]) -> None:
        """Return when it has been taken. Raises ``NotifyError``."""


class PagerDuty:
    """Events API v2 (developer.pagerduty.com, "Send an event to PagerDuty"; change events: "Send a change event")."""

    name: Final = PAGERDUTY

    def __init__(self, poster: Poster, routing_key: str) -> None:
        self._poster = poster
        self._routing_key = routing_key

    def send(self, body: Mapping[str, Any]) -> None:
        """Trigger, resolve, or a change event."""
        if body["event"] == "change":
            details = {key: body[key] for key in ("agent", "release", "model")}
            payload = {"summary": _cut(body["summary"]), "source": body["source"], "timestamp": body["at"]}
            event = {"routing_key": self._routing_key, "payload": {**payload, "custom_details": details}}
            self._poster.post(_json(event), "/v2/change/enqueue")
            return
        event = {"routing_key": self._routing_key, "dedup_key": body["dedup_key"]}
        if body["event"] == "resolved":
            self._poster.post(_json({**event, "event_action": "resolve"}), "/v2/enqueue")
            return
        whole = {**event, "event_action": "trigger", "client": "aem-monitor", "links": _links(body)}
        details = {key: value for key, value in body.items() if key not in ("event", "dedup_key", "summary")}
        whole["payload"] = {
            "summary": _cut(body["summary"]),
            "source": body["source"],
            "severity": body["severity"],
            "timestamp": body["opened_at"],
            "component": body["agent"],
            "group": body["release"],
            "class": body["reason"] or body["kind"],
            "custom_details": details,
        }
        text = _json(whole)
        if len(text) > _MOST_BYTES:
            del details["evidence"]
            text = _json(whole)
        self._poster.post(text, "/v2/enqueue")


class Alertmanager:
    """API v2. It forgets an alert at its ``endsAt``, so that open ones are posted again before (``refresh``)."""

    name: Final = ALERTMANAGER

    def __init__(self, poster: Poster, labels: Mapping[str, str], lasts: float) -> None:
        """``labels`` are added to each alert; ``lasts``: seconds for which it holds without being posted again."""
        self._poster = poster
        self._labels = dict(labels)
        self._lasts = lasts
        self.refresh_every: Final = lasts / 4

    def send(self, body: Mapping[str, Any]) -> None:
        """One alert, firing or over. Changes are no alerts: they are left out."""
        if body["event"] != "change":
            self._post([body])

    def refresh(self, bodies: Sequence[Mapping[str, Any]]) -> None:
        """Say of open incidents that they still are. Raises ``NotifyError``."""
        for start in range(0, len(bodies), 100):
            self._post(bodies[start : start + 100])

    def _post(self, bodies: Sequence[Mapping[str, Any]]) -> None:
        self._poster.post(_json([self._alert(body) for body in bodies]), "/api/v2/alerts")

    def _alert(self, body: Mapping[str, Any]) -> dict[str, Any]:
        now = datetime.now(UTC).timestamp()
        ends = now if body["event"] == "resolved" else now + self._lasts
        labels = {
            "alertname": ALERT_NAMES.get(body["kind"], "AemTest"),
            "severity": body["severity"],
            "component": "agent-quality",
            "agent": body["agent"],
            "release": body["release"],
            "reason": body["reason"] or "",
            # Apart from the alert of a rule: Alertmanager would merge the two, and one would end the other.
            "detector": "built-in",
            **self._labels,
        }
        examples = body["evidence"]["examples"]
        annotations = {
            "summary": _cut(body["summary"]),
            "description": "\n".join(_sentence(example) for example in examples) or body["summary"],
            "run_url": next((one["run_link"] for one in examples if one["run_link"]), ""),
            "trace_url": next((one["trace_link"] for one in examples if one["trace_link"]), ""),
        }
        return {
            "labels": {key: value for key, value in labels.items() if value},
            "annotations": {key: value for key, value in annotations.items() if value},
            "startsAt": body["opened_at"],
            "endsAt": datetime.fromtimestamp(ends, UTC).isoformat(timespec="milliseconds"),
        }


class Webhook:
    """The body as it is, signed with HMAC-SHA256 where a secret is given."""

    name: Final = WEBHOOK

    def __init__(self, poster: Poster, secret: str | None) -> None:
        self._poster = poster
        self._secret = secret

    def send(self, body: Mapping[str, Any]) -> None:
        """One request a notification."""
        text = _json(body)
        headers = {}
        if self._secret is not None:
            digest = hmac.new(self._secret.encode(), text, hashlib.sha256).hexdigest()
            headers["X-Aem-Monitor-Signature"] = f"sha256={digest}"
        self._poster.post(text, headers=headers)


def _sentence(example: Mapping[str, Any]) -> str:
    where = f"{example['dialog']} v{example['dialog_version']}, turn {example['turn'] or 'extra'}: {example['reason']}"
    what = " ".join(part for part in (example["tool"], example["field"]) if part)
    return f"{where} {what}; expected {example['expected']}, got {example['got']}"


def _links(body: Mapping[str, Any]) -> list[dict[str, str]]:
    found = []
    for number, example in enumerate(body["evidence"]["examples"], 1):
        for key, text in (("run_link", "Error map"), ("trace_link", "Trace")):
            if example[key]:
                found.append({"href": example[key], "text": f"{text} of example {number}"})
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SUMMARY else f"{text[: _LONGEST_SUMMARY - 1]}…"


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
