"""When the article's rule takes what is wrong in an annotated turn for inherited."""

from collections.abc import Callable, Mapping, Sequence

from aem_monitor.attribution.annotated import CallForm, TurnForm
from aem_monitor.attribution.explain import OWN_FAULT, Explainer, Explanation
from aem_monitor.attribution.graph import Echo, Lift
from aem_monitor.attribution.outcome import Outcome
from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Basis
from aem_monitor.scoring.arguments import Difference
from aem_monitor.scoring.oracle import Oracle
from aem_monitor.scoring.responses import Claim


class ArticleRule:
    """What the article's rule says: a wrong value is inherited if a failed turn that the author names returned it.

    Where no results are given, the author's word is enough. A value is inherited as well if the expected and the actual
    one are the gold and the predicted value of one field of an earlier failed turn (``revenue`` and ``profit``). The
    facts of a claim may come from several turns, as ``explainer`` tells.
    """

    def __init__(
        self,
        form: TurnForm,
        turns: Sequence[TurnForm],
        outcomes: Mapping[int, Outcome],
        oracle: Oracle,
        explainer: Explainer,
    ) -> None:
        self._oracle = oracle
        self._explainer = explainer
        self._forms = {turn.turn_no: turn for turn in turns}
        self._failed = [number for number, outcome in outcomes.items() if outcome.failed]
        self._named = [number for number in form.depends_on if number in self._failed]

    def differences(self, differences: Sequence[Difference]) -> Explanation:
        """Explains all of them, or none."""
        found = [self._value(difference) for difference in differences]
        if not found or not all(found):
            return OWN_FAULT
        basis = Basis.PROVENANCE if any(item.basis is Basis.PROVENANCE for item in found) else Basis.DECLARED
        return Explanation(tuple(sorted({turn for item in found for turn in item.turns})), basis)

    def missing(self, _path: JSONPath) -> Explanation:
        """A key that is not there."""
        return self._declared(lambda _: False)

    def not_called(self) -> Explanation:
        """A turn that never came."""
        return self._declared(lambda _: False)

    def unsaid(self, reply: str, _lifts: Sequence[Lift], _echoes: Sequence[Echo] = ()) -> Explanation:
        """What a reply leaves out."""
        return self._declared(lambda result: self._states_some_of(reply, result))

    def claim(self, claim: Claim) -> Explanation:
        """What a reply says that the reference does not."""
        found = self._declared(lambda result: self._oracle.supports(claim, result))
        return found or self._explainer.claim(claim)

    def _value(self, difference: Difference) -> Explanation:
        found = self._declared(lambda result: bool(self._oracle.occurs(difference.actual, result)))
        if found:
            return found
        echoed = [number for number in self._failed if self._swapped(self._forms[number], difference)]
        return Explanation(tuple(echoed), Basis.PROVENANCE) if echoed else OWN_FAULT

    def _swapped(self, form: TurnForm, difference: Difference) -> bool:
        gold, predicted = form.gold_turn, form.predict_turn
        if not isinstance(gold, CallForm) or not isinstance(predicted, CallForm):
            return False
        return any(
            name in predicted.args
            and self._oracle.same(difference.expected, value).equivalent
            and self._oracle.same(difference.actual, predicted.args[name]).equivalent
            for name, value in gold.args.items()
        )

    def _declared(self, returned: Callable[[JSON], bool]) -> Explanation:
        """The named failed turns; of those with a result only the ones that really returned it."""
        traced = [n for n in self._named if has_result(self._forms[n]) and returned(self._forms[n].predict_result)]
        if traced:
            return Explanation(tuple(traced), Basis.PROVENANCE)
        told = [n for n in self._named if not has_result(self._forms[n])]
        return Explanation(tuple(told), Basis.DECLARED) if told else OWN_FAULT

    def _states_some_of(self, reply: str, result: JSON) -> bool:
        values: list[JSON] = []
        waiting = [result]
        while waiting and len(values) < 200:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting.extend(value.values())
            elif isinstance(value, list):
                waiting.extend(value)
            else:
                values.append(value)
        return any(self._oracle.occurs(value, reply) for value in values)


def has_result(form: TurnForm) -> bool:
    """Whether the annotation has what the predicted call returned."""
    return "predict_result" in form.model_fields_set and form.predict_result is not None
