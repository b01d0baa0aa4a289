"""Tells agent telemetry from the rest before anything is decoded in full."""

from collections.abc import Iterable
from typing import Final

_CACHED_NAMES: Final = 4096


class Prefilter:
    """Looks for marker strings: in the bytes of a body, then in the names of one span.

    A marker is a part of an attribute key, scope name or event name (``gen_ai.``, ``session.id``), as the convention
    registry and the configured identity attributes give them. The test of a body is a substring search, so that it
    may say yes for text that only talks about a marker; the test by name then decides. The empty marker matches
    everything: ``Prefilter([""])`` keeps all spans in full. Without any marker nothing is kept.

    Safe to share between threads.
    """

    __slots__ = ("_bytes", "_known", "markers")

    def __init__(self, markers: Iterable[str]) -> None:
        wanted = sorted(set(markers), key=lambda marker: (len(marker), marker))
        # A marker that contains another one can find nothing that the shorter one would not.
        shortest: list[str] = []
        for marker in wanted:
            if not any(other in marker for other in shortest):
                shortest.append(marker)
        self.markers: Final = tuple(shortest)
        self._bytes: Final = tuple(marker.encode() for marker in shortest)
        # Attribute keys repeat from span to span. The cache is emptied when full: keys from outside are unbounded.
        self._known: Final[dict[str, bool]] = {}

    def in_bytes(self, body: bytes, start: int = 0, end: int | None = None) -> bool:
        """Whether any marker occurs in ``body[start:end]``, without copying it."""
        stop = len(body) if end is None else end
        return any(body.find(marker, start, stop) >= 0 for marker in self._bytes)

    def in_name(self, name: str) -> bool:
        """Whether an attribute key, scope name or event name contains a marker."""
        known = self._known.get(name)
        if known is not None:
            return known
        found = any(marker in name for marker in self.markers)
        if len(self._known) >= _CACHED_NAMES:
            self._known.clear()
        if len(name) <= 256:
            self._known[name] = found
        return found
