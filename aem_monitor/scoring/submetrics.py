"""Sub-metrics beyond correctness, such as safety: what a plug-in asks about each turn.

A plug-in is an entry point of the group ``aem_monitor.submetrics``: an object (or a class or function without arguments
that gives one) with a ``name`` and a ``check``. Its checks stand beside the built-in ones: a failing one fails the
turn, and all are counted under its name.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import Final, Protocol

from aem_monitor.errors import ConfigError
from aem_monitor.model.conversation import ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Check, FailureReason, NotScored, SubMetric, TurnKind

ENTRY_POINT_GROUP: Final = "aem_monitor.submetrics"

_LOG = logging.getLogger(__name__)
_BUILT_IN: Final = frozenset(submetric.value for submetric in SubMetric)
_REASONS: Final = {
    TurnKind.TOOL: FailureReason.INCONSISTENT_PARAMETER_VALUES,
    TurnKind.RESPONSE: FailureReason.INCONSISTENT_RESPONSE,
}


@dataclass(frozen=True, slots=True)
class TurnView:
    """What a plug-in sees of a turn that happened: the expectation, the call or the reply, what the user had said."""

    kind: TurnKind
    expected: JSON
    user_texts: tuple[str, ...]
    call: ToolCall | None = None
    reply: str | None = None


class SubMetricPlugin(Protocol):
    """A further sub-metric. Pure: it must not keep anything between turns."""

    name: str

    def check(self, turn: TurnView) -> Sequence[Check]:
        """Checks of a turn; none when the sub-metric has nothing to say about it.

        ``submetric`` of each is set to the plug-in's name. A failing check without a reason of the closed set gets
        ``inconsistent_response`` or ``inconsistent_parameter_values``, by the kind of turn.
        """


def ask(plugins: Iterable[SubMetricPlugin], turn: TurnView) -> list[Check]:
    """The checks of all plug-ins. One that raises leaves its sub-metric unscored: ``scorer_error``."""
    found: list[Check] = []
    for plugin in plugins:
        try:
            checks = list(plugin.check(turn))
        except Exception:  # noqa: BLE001 - a plug-in must not take the verdict with it
            _LOG.exception("Sub-metric %s failed on a turn", plugin.name)
            checks = [Check(plugin.name, "turn", passed=None, cause=NotScored.SCORER_ERROR)]
        found += [_named(check, plugin.name, turn.kind) for check in checks]
    return found


def _named(check: Check, name: str, kind: TurnKind) -> Check:
    reason = check.reason
    if check.passed is False and reason in (None, FailureReason.PRIOR_ACTION_FAILED):
        reason = _REASONS[kind]
    return replace(check, submetric=name, reason=reason)


def load_submetrics() -> tuple[SubMetricPlugin, ...]:
    """The installed plug-ins in order of their names. Raises ``ConfigError`` for one that cannot be used."""
    found: list[SubMetricPlugin] = []
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name):
        try:
            loaded = point.load()
            plugin = loaded() if callable(loaded) else loaded
        except Exception as error:
            raise ConfigError(f"sub-metric {point.name!r} ({point.value}) cannot be loaded: {error}") from error
        name = getattr(plugin, "name", None)
        if not isinstance(name, str) or not callable(getattr(plugin, "check", None)):
            raise ConfigError(f"sub-metric {point.name!r} ({point.value}) needs a name and a check")
        if name in _BUILT_IN:
            raise ConfigError(f"sub-metric {point.name!r} ({point.value}) takes the name of a built-in one: {name}")
        found.append(plugin)
    return tuple(found)
