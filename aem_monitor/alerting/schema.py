"""The JSON Schema of notifications, for those who receive the webhook.

``python -m aem_monitor.alerting.schema`` prints it; ``make docs`` keeps it in ``deploy/schemas``.
"""

import json
import sys
from typing import Any

_TEXT = {"type": "string"}
_NAME = {"type": ["string", "null"]}
_COUNT = {"type": "integer", "minimum": 0}
_TIME = {"type": "string", "format": "date-time"}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}


def notification_schema() -> dict[str, Any]:
    """Draft 2020-12."""
    finding = {
        "expected_rate": {**_SHARE, "description": "Share of runs that were expected to fail so."},
        "seen_rate": {**_SHARE, "description": "Share of the last runs that did."},
        "failed": {**_COUNT, "description": "How many of them."},
        "runs": {**_COUNT, "description": "How many runs that is of."},
        "tools": {
            "type": "object",
            "additionalProperties": _COUNT,
            "description": "Their root causes, by golden tool.",
        },
    }
    example = {
        "run_id": _TEXT,
        "dialog": _TEXT,
        "dialog_version": {"type": "integer"},
        "model": _TEXT,
        "turn": {"type": ["integer", "null"], "description": "Golden turn; null: an extra call."},
        "reason": _TEXT,
        "detail": _NAME,
        "tool": {**_NAME, "description": "Golden tool."},
        "called": {**_NAME, "description": "Tool that was called."},
        "field": {**_NAME, "description": "Argument, as a dotted path."},
        "expected": {**_TEXT, "description": "JSON text, cut; withheld unless the run was recognised by an id."},
        "got": {**_TEXT, "description": "The same of what came."},
        "cascades": {**_COUNT, "description": "Turns of the run that inherited the fault."},
        "trace_id": _NAME,
        "trace_link": _NAME,
        "run_link": _NAME,
    }
    evidence = {
        "runs": {**_COUNT, "description": "Runs that show the fault, among the newest 200 that failed."},
        "cascades": {**_COUNT, "description": "Turns of these runs that inherited it."},
        "examples": {"type": "array", "maxItems": 3, "items": _object(example)},
    }
    also = _object({"kind": _TEXT, "reason": _NAME, "tool": _NAME})
    incident = {
        "event": {"enum": ["triggered", "updated", "resolved"]},
        "source": {**_TEXT, "description": "alerting.source of the configuration."},
        "dedup_key": {**_TEXT, "description": "The same for the same fault."},
        "number": {"type": "integer", "minimum": 0, "description": "Counts incidents with this key."},
        "kind": {"enum": ["root_cause_spike", "release_regression", "drift", "test"]},
        "severity": {"enum": ["critical", "warning", "info"]},
        "summary": {**_TEXT, "maxLength": 1024},
        "agent": _TEXT,
        "release": _TEXT,
        "reason": {**_NAME, "description": "Root cause, of a spike."},
        "tool": {**_NAME, "description": "Golden tool, `several`, or null for replies."},
        "opened_at": _TIME,
        "at": _TIME,
        "finding": _object(finding),
        "also": {"type": "array", "items": also, "description": "What else was found that is the same fault."},
        "evidence": _object(evidence),
        "why": {"enum": ["recovered", "superseded", None], "description": "Why it is over."},
    }
    change = {
        "event": {"const": "change"},
        "source": _TEXT,
        "summary": {**_TEXT, "maxLength": 1024},
        "agent": _TEXT,
        "release": _TEXT,
        "model": _TEXT,
        "at": _TIME,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "aem-monitor notification",
        "oneOf": [_object(incident), _object(change)],
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(notification_schema(), indent=2) + "\n")
