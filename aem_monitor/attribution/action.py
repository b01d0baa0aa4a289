"""The verdict of one action turn that a call answers."""

from collections.abc import Iterable
from dataclasses import dataclass

from aem_monitor.attribution.explain import OWN_FAULT, Explains, Explanation
from aem_monitor.golden.dialog import Dialog, ToolTurn
from aem_monitor.model.conversation import NOT_CAPTURED, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Check, FailureReason, NotScored, SubMetric
from aem_monitor.scoring.arguments import Agreement, ArgumentComparer, Difference
from aem_monitor.scoring.exchange import Fitness
from aem_monitor.scoring.oracle import UnansweredError


@dataclass(frozen=True, slots=True)
class ActionChecks:
    """Asks everything about a call of the right tool and action: keys first, then values."""

    dialog: Dialog
    turn: ToolTurn
    call: ToolCall
    comparer: ArgumentComparer
    explainer: Explains | None = None

    def all(self) -> list[Check]:
        """Every check in the order in which a reason is picked: structural, completeness, truthfulness."""
        return [*structural_passed(self.turn), *self._completeness(), *self._truthfulness()]

    def fit(self) -> Fitness:
        """How far keys and values agree."""
        if self.call.arguments is None:
            return Fitness(1.0, clean=True)
        wrong_keys = len(self._missing()) + len(self._unexpected())
        agreements = [self._agreement(name) for name in self._present()]
        size = len(agreements) + wrong_keys
        if not size:
            return Fitness(1.0, clean=True)
        share = sum(min(agreement.score, 1.0) for agreement in agreements) / size
        clean = not wrong_keys and not any(agreement.differences for agreement in agreements)
        return Fitness(share, clean)

    def _completeness(self) -> list[Check]:
        arguments = self.call.arguments
        if arguments is None:
            return [_unscored(SubMetric.COMPLETENESS, "arguments", self._content_cause())] if self._asks() else []
        checks = [self._missing_check(name) for name in self._missing()]
        checks += [
            Check(
                SubMetric.COMPLETENESS,
                "arguments",
                passed=False,
                field=name,
                reason=FailureReason.EXTRA_PARAMETERS,
                actual=arguments[name],
                score=0.0,
                rule="unexpected key",
            )
            for name in self._unexpected()
        ]
        return checks or [Check(SubMetric.COMPLETENESS, "arguments", passed=True, score=1.0)]

    def _missing_check(self, name: str) -> Check:
        if self.call.arguments_truncated:
            return _unscored(SubMetric.COMPLETENESS, "arguments", NotScored.CONTENT_TRUNCATED, name)
        why = self.explainer.missing((name,)) if self.explainer else OWN_FAULT
        return Check(
            SubMetric.COMPLETENESS,
            "arguments",
            passed=False,
            field=name,
            reason=FailureReason.MISSING_PARAMETERS,
            expected=self.turn.args[name],
            score=0.0,
            rule="missing key",
            explained_by=why.turns,
            basis=why.basis,
        )

    def _truthfulness(self) -> list[Check]:
        if self.call.arguments is None:
            return [_unscored(SubMetric.TRUTHFULNESS, "value", self._content_cause())] if self.turn.args else []
        return [self._value_check(name) for name in self._present()]

    def _value_check(self, name: str) -> Check:
        try:
            agreement = self._agreement(name)
        except UnansweredError:
            return _unscored(SubMetric.TRUTHFULNESS, "value", NotScored.SCORER_ERROR, name)
        expected, actual = self.turn.args[name], (self.call.arguments or {})[name]
        if agreement.differences and self.call.arguments_truncated and _cut_short(agreement.differences):
            return _unscored(SubMetric.TRUTHFULNESS, "value", NotScored.CONTENT_TRUNCATED, name)
        why: Explanation = OWN_FAULT
        if agreement.differences and self.explainer:
            why = self.explainer.differences(agreement.differences)
            expected = agreement.differences[0].expected if len(agreement.differences) == 1 else expected
            actual = agreement.differences[0].actual if len(agreement.differences) == 1 else actual
        # A leaf that cannot be judged leaves the value open, unless another one is wrong, or this one is inherited.
        unknown = agreement.cause is not None and not agreement.differences
        return Check(
            SubMetric.TRUTHFULNESS,
            "value",
            passed=None if unknown else not agreement.differences,
            field=name,
            reason=None if unknown or agreement.holds else FailureReason.INCONSISTENT_PARAMETER_VALUES,
            cause=agreement.cause if unknown else None,
            expected=expected,
            actual=actual,
            score=None if unknown else agreement.score,
            uncertain=agreement.uncertain,
            rule=agreement.rule,
            explained_by=why.turns,
            basis=why.basis,
        )

    def _agreement(self, name: str) -> Agreement:
        arguments = self.call.arguments or {}
        optional = self.dialog.optional_args(self.turn.tool_id, self.turn.action)
        default = optional.get(name, NOT_CAPTURED)
        if default is not NOT_CAPTURED and self.comparer.same(arguments[name], default).equivalent:
            return Agreement(1.0, rule="default")
        return self.comparer.compare(name, self.turn.args, arguments, frozenset(optional))

    def _present(self) -> list[str]:
        covered = self.comparer.covered()
        return [name for name in self.turn.args if name in (self.call.arguments or {}) and name not in covered]

    def _missing(self) -> list[str]:
        """Keys that were asked for. What the dialog calls optional, or the tool's schema fills in as expected, is not
        missed."""
        optional = self.dialog.optional_args(self.turn.tool_id, self.turn.action)
        absent = [name for name in self.turn.args if name not in (self.call.arguments or {}) and name not in optional]
        return [name for name in absent if not self._filled_in(name)]

    def _filled_in(self, name: str) -> bool:
        try:
            return self.comparer.stands_for(name, self.turn.args)
        except UnansweredError:
            return False

    def _unexpected(self) -> list[str]:
        """Keys that nobody asked for; an optional argument may carry its default, or anything if none is known.

        Of what the dialog does not name the tool's schema may say that the value is the default.
        """
        optional = self.dialog.optional_args(self.turn.tool_id, self.turn.action)
        unexpected = []
        for name, value in (self.call.arguments or {}).items():
            if name in self.turn.args:
                continue
            if name not in optional:
                if not self.comparer.schema.says_nothing(name, value):
                    unexpected.append(name)
            else:
                default = optional[name]
                if default is not NOT_CAPTURED and not self.comparer.same(value, default).equivalent:
                    unexpected.append(name)
        return unexpected

    def _asks(self) -> bool:
        return bool(self.turn.args)

    def _content_cause(self) -> NotScored:
        return NotScored.CONTENT_TRUNCATED if self.call.arguments_truncated else NotScored.CONTENT_MISSING


def structural_passed(turn: ToolTurn) -> list[Check]:
    """The structural checks of a call that is of the right tool and action."""
    checks = [Check(SubMetric.STRUCTURAL, "tool", passed=True, expected=turn.tool_id, actual=turn.tool_id, score=1.0)]
    if turn.action is not None:
        checks.append(
            Check(SubMetric.STRUCTURAL, "action", passed=True, expected=turn.action, actual=turn.action, score=1.0)
        )
    return checks


def not_reached(turn: ToolTurn) -> list[Check]:
    """The checks that a structural failure leaves unasked."""
    checks = [_unscored(SubMetric.COMPLETENESS, "arguments", NotScored.NOT_REACHED)]
    return [*checks, _unscored(SubMetric.TRUTHFULNESS, "value", NotScored.NOT_REACHED)] if turn.args else checks


def call_name(tool: str, action: str | None) -> str:
    """A call's tool and action as one word."""
    return tool if action is None else f"{tool}.{action}"


def expected_call(turn: ToolTurn) -> JSON:
    """The expected call as evidence."""
    return {"call": call_name(turn.tool_id, turn.action), "args": turn.args}


def actual_call(call: ToolCall) -> JSON:
    """A real call as evidence."""
    return {"call": call_name(call.tool, call.action), "args": call.arguments}


def _unscored(submetric: SubMetric, subject: str, cause: NotScored, field: str | None = None) -> Check:
    return Check(submetric, subject, passed=None, field=field, cause=cause)


def _cut_short(differences: Iterable[Difference]) -> bool:
    return any(
        difference.missing
        or (
            isinstance(difference.actual, str)
            and isinstance(difference.expected, str)
            and difference.expected.startswith(difference.actual)
        )
        for difference in differences
    )
