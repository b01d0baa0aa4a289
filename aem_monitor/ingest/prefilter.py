"""Tells agent telemetry from the rest before anything is decoded in full."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

_CACHED_NAMES: Final = 4096
_SHORTEST_STEM: Final = 6
"""Shorter beginnings (``ai.``) stand in the bytes of many a service that has nothing to do with agents."""


class Prefilter:
    """Looks for marker strings: in the bytes of a body, then in the names of one span.

    A marker is a part of an attribute key, scope name or event name (``gen_ai.``, ``session.id``), as the convention
    registry and the configured identity attributes give them. The test of a body is a substring search, so that it
    may say yes for text that only talks about a marker; the test by name then decides. The empty marker matches
    everything: ``Prefilter([""])`` keeps all spans in full. Without any marker nothing is kept.

    ``span_markers`` count on spans, scopes and events but not on resources: attributes such as
    ``deployment.environment.name``, by which canaries may be told from the rest, are on the resource of every service,
    and would keep every span there is.

    Safe to share between threads.
    """

    __slots__ = ("_bytes", "_known", "markers", "resource_markers")

    def __init__(self, markers: Iterable[str], span_markers: Iterable[str] = ()) -> None:
        self.resource_markers: Final = _shortest(markers)
        self.markers: Final = _shortest((*self.resource_markers, *span_markers))
        self._bytes: Final = tuple(marker.encode() for marker in _searched(self.markers))
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

    def in_resource_name(self, name: str) -> bool:
        """Whether the key of a resource attribute contains a marker that counts there."""
        return any(marker in name for marker in self.resource_markers)


def _searched(markers: tuple[str, ...]) -> tuple[str, ...]:
    """What to search bytes for: markers that begin alike up to their last dot are searched for at once.

    Fewer searches, for a few more bodies of which the names have to be looked at.
    """
    stem_of = {marker: marker.rpartition(".")[0] for marker in markers}
    stems = Counter(stem_of.values())
    return _shortest(
        f"{stem}." if stems[stem] > 1 and len(stem) >= _SHORTEST_STEM else marker for marker, stem in stem_of.items()
    )


def _shortest(markers: Iterable[str]) -> tuple[str, ...]:
    """The markers without those that contain another one: they can find nothing that the shorter one would not."""
    kept: list[str] = []
    for marker in sorted(set(markers), key=lambda one: (len(one), one)):
        if not any(other in marker for other in kept):
            kept.append(marker)
    return tuple(kept)
