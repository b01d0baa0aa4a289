"""Addresses of traces in the tracing backend, from the template of the configuration."""

import re
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import quote, urlsplit

_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_KNOWN: Final = frozenset({"trace_id", "span_id"})


@dataclass(frozen=True, slots=True)
class TraceLink:
    """A template such as ``https://grafana.example/trace/{trace_id}?span={span_id}``."""

    template: str

    @classmethod
    def parse(cls, template: str) -> Self:
        """Raises ``ValueError`` when the template is no address of a web page, or names no trace. Other schemes than
        HTTP are refused: a ``javascript:`` address would run on the page that shows it."""
        if not re.fullmatch(r"https?://[\x21-\x7e]+", template):
            raise ValueError("must be a URL that begins with http:// or https://, printable ASCII without spaces")
        places = set(_PLACE.findall(template))
        if unknown := sorted(places - _KNOWN):
            raise ValueError(f"names {{{unknown[0][:40]}}}; known are {{trace_id}} and {{span_id}}")
        if "trace_id" not in places:
            raise ValueError("does not name {trace_id}: every link would be the same")
        try:
            host = urlsplit(template).netloc
        except ValueError as error:
            raise ValueError(f"is no URL: {error}") from error
        if not host or "{" in host or "@" in host:
            raise ValueError("needs a host of its own, without credentials and places to fill in")
        return cls(template)

    def to(self, trace_id: str | None, span_id: str | None = None) -> str | None:
        """The address of a span's trace, None without a trace. An unknown span leaves its place empty."""
        if not trace_id:
            return None
        values = {"trace_id": quote(trace_id, safe="", errors="replace"), "span_id": ""}
        if span_id:
            values["span_id"] = quote(span_id, safe="", errors="replace")
        return _PLACE.sub(lambda place: values[place[1]], self.template)
