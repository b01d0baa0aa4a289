"""An endpoint of PagerDuty's Events API v2 that takes nothing that the API does not take.

Alerts go to ``/v2/enqueue``, change events to ``/v2/change/enqueue``. The rules are those of PagerDuty's developer
documentation ("Events API V2": overview, trigger events, change events); where that does not say what a wrong type
leads to, it is refused. Incidents are kept the way PagerDuty keeps them: one open incident per routing key and dedup
key, which further triggers join and a resolve ends.
"""

import json
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from tests.services.posted import PostServer, hang_up

ALERTS: Final = "/v2/enqueue"
CHANGES: Final = "/v2/change/enqueue"

_MAX_BYTES: Final = 512 * 1024
_ACTIONS: Final = ("trigger", "acknowledge", "resolve")
_SEVERITIES: Final = ("critical", "error", "warning", "info")


@dataclass(slots=True)
class Incident:
    """What all triggers of one dedup key opened while it was open: one page."""

    dedup_key: str
    triggers: list[dict[str, Any]]
    acknowledged: bool = False
    resolved: bool = False

    @property
    def payload(self) -> dict[str, Any]:
        """Of its first trigger, which is what the person who is paged reads."""
        payload: dict[str, Any] = self.triggers[0]["payload"]
        return payload


@dataclass(frozen=True, slots=True)
class Answer:
    """What a valid request is answered, in place of 202; ``None`` of the status ends the connection unanswered."""

    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict)


class PagerDuty(PostServer):
    """Keeps its incidents over ``stop`` and ``start``.

    ``answer`` is asked on each valid request (its path and its event) and may return an ``Answer`` to refuse it with.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answer: Callable[[str, dict[str, Any]], Answer | None] = lambda path, event: None
        self.requests: list[tuple[str, int]] = []
        """Path and answered status (0: none) of each request, the refused ones too."""
        self.faults: list[str] = []
        """Why requests were refused as invalid."""
        self.events: list[dict[str, Any]] = []
        """Accepted alert events."""
        self.changes: list[dict[str, Any]] = []
        """Accepted change events."""
        self.incidents: list[Incident] = []
        """In the order in which they were opened."""
        self._open: dict[tuple[str, str], Incident] = {}
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where alert events are sent to."""
        return f"http://127.0.0.1:{self.port}{ALERTS}"

    @property
    def change_url(self) -> str:
        """Where change events are sent to."""
        return f"http://127.0.0.1:{self.port}{CHANGES}"

    @property
    def open(self) -> list[Incident]:
        """Incidents that were not resolved."""
        return [incident for incident in list(self.incidents) if not incident.resolved]

    def _posted(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        with self._lock:
            status, headers, document = self._judge(handler.path, body)
            self.requests.append((handler.path, status))
        if not status:
            hang_up(handler)
            return
        text = json.dumps(document).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def _judge(self, path: str, body: bytes) -> tuple[int, Mapping[str, str], dict[str, Any]]:
        if path not in (ALERTS, CHANGES):
            return self._refuse(404, [f"nothing is at {path}"])
        if len(body) > _MAX_BYTES:
            return self._refuse(413, [f"{len(body)} bytes, {_MAX_BYTES} are allowed"])
        try:
            event = json.loads(body)
        except ValueError as error:
            return self._refuse(400, [f"no JSON: {error}"])
        errors = faults_of_alert(event) if path == ALERTS else faults_of_change(event)
        if errors:
            return self._refuse(400, errors)
        refusal = self.answer(path, event)
        if refusal is not None:
            return refusal.status or 0, refusal.headers, {}
        if path == CHANGES:
            self.changes.append(event)
            return 202, {}, {"status": "success", "message": "Change event processed"}
        event.setdefault("dedup_key", uuid.uuid4().hex)
        self.events.append(event)
        self._apply(event)
        return 202, {}, {"status": "success", "message": "Event processed", "dedup_key": event["dedup_key"]}

    def _refuse(self, status: int, errors: list[str]) -> tuple[int, Mapping[str, str], dict[str, Any]]:
        self.faults += errors
        return status, {}, {"status": "invalid event", "message": "Event object is invalid", "errors": errors}

    def _apply(self, event: dict[str, Any]) -> None:
        """An acknowledgement or a resolve of what is not open is dropped, as PagerDuty does."""
        key = (event["routing_key"], event["dedup_key"])
        incident = self._open.get(key)
        match event["event_action"]:
            case "trigger" if incident is None:
                self._open[key] = Incident(event["dedup_key"], [event])
                self.incidents.append(self._open[key])
            case "trigger" if incident is not None:
                incident.triggers.append(event)
            case "acknowledge" if incident is not None:
                incident.acknowledged = True
            case "resolve" if incident is not None:
                incident.resolved = True
                del self._open[key]


def faults_of_alert(event: Any) -> list[str]:
    """What of an alert event is not as the API wants it."""
    if not isinstance(event, dict):
        return ["the event is no object"]
    errors = [*_routing_key(event), *_text(event, "dedup_key", limit=255), *_links(event)]
    for name in ("client", "client_url"):
        errors += _text(event, name)
    action = event.get("event_action")
    if action not in _ACTIONS:
        return [*errors, f"'event_action' is {action!r}, not one of {', '.join(_ACTIONS)}"]
    if action != "trigger":
        return errors if event.get("dedup_key") else [*errors, f"'dedup_key' is required to {action}"]
    payload = event.get("payload")
    if not isinstance(payload, dict):
        return [*errors, "'payload' is missing"]
    errors += _payload(payload) + _text(payload, "source", required=True)
    for name in ("component", "group", "class"):
        errors += _text(payload, name)
    severity = payload.get("severity")
    if severity not in _SEVERITIES:
        errors.append(f"'payload.severity' is {severity!r}, not one of {', '.join(_SEVERITIES)}")
    return errors


def faults_of_change(event: Any) -> list[str]:
    """What of a change event is not as the API wants it."""
    if not isinstance(event, dict):
        return ["the event is no object"]
    errors = [*_routing_key(event), *_links(event)]
    payload = event.get("payload")
    if not isinstance(payload, dict):
        return [*errors, "'payload' is missing"]
    return errors + _payload(payload) + _text(payload, "source")


def _routing_key(event: Mapping[str, Any]) -> list[str]:
    key = event.get("routing_key")
    if not isinstance(key, str) or len(key) != 32:
        return ["Length of 'routing_key' is incorrect (should be 32 characters)"]
    return []


def _payload(payload: Mapping[str, Any]) -> list[str]:
    """What both kinds have in common."""
    errors = _text(payload, "summary", limit=1024, required=True)
    if not isinstance(payload.get("custom_details", {}), dict):
        errors.append("'payload.custom_details' is no object")
    if "timestamp" in payload:
        try:
            stamp = datetime.fromisoformat(payload["timestamp"])
        except (TypeError, ValueError):
            return [*errors, f"'payload.timestamp' is no ISO 8601 time: {payload['timestamp']!r}"]
        if stamp.tzinfo is None:
            errors.append(f"'payload.timestamp' has no offset: {payload['timestamp']!r}")
    return errors


def _text(fields: Mapping[str, Any], name: str, limit: int | None = None, required: bool = False) -> list[str]:
    if name not in fields and not required:
        return []
    value = fields.get(name)
    if required and not value:
        return [f"'payload.{name}' is missing or blank"]
    if not isinstance(value, str):
        return [f"'{name}' is no text"]
    if limit is not None and len(value) > limit:
        return [f"'{name}' has {len(value)} characters, {limit} are allowed"]
    return []


def _links(event: Mapping[str, Any]) -> list[str]:
    errors = []
    for name, address in (("links", "href"), ("images", "src")):
        entries = event.get(name, [])
        if not isinstance(entries, list):
            errors.append(f"'{name}' is no list")
            continue
        for entry in entries:
            place = entry.get(address) if isinstance(entry, dict) else None
            if not isinstance(place, str) or not place.startswith(("http://", "https://")):
                errors.append(f"an entry of '{name}' has no '{address}' that is a URL")
    return errors
