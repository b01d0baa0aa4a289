"""Regression cases beside the verdicts of their recordings. Pure: what was recorded comes in as conversations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.golden.cases import Case, CaseFile, Expectation
from aem_monitor.golden.expectation import Difference, differences
from aem_monitor.golden.recognise import Recognition
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.verdict import RunResult
from aem_monitor.pipeline import Pipeline

_NAMED: Final = 10
"""Conversations named where the one of a case is not found."""

PASSES: Final = Expectation(test_pass=True)
"""What is expected of a run that no case is about."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recorded conversation, which dialog it plays, and the results of its plays."""

    conversation: Conversation
    recognition: Recognition
    results: tuple[RunResult, ...] = ()

    @property
    def name(self) -> str:
        """Its id, or its trace id where it has none: how a case names it."""
        return self.conversation.conversation_id or self.conversation.key

    def is_named(self, name: str) -> bool:
        """Whether ``name`` is one of its ids."""
        return name in (self.conversation.conversation_id, self.conversation.key, *self.conversation.aliases)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case. ``file`` is None where a run was tried that no case is about.

    ``result`` is None where the run was not found; a difference says so. ``conversation`` and ``play`` name the run.
    """

    case: Case
    file: CaseFile | None
    line: int
    differences: tuple[Difference, ...]
    result: RunResult | None = None
    conversation: str | None = None
    version: int | None = None

    @property
    def as_expected(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    @property
    def remark(self) -> str | None:
        """That the dialog is of another version than when the expectation was recorded, which may be the reason."""
        if self.case.version in (None, self.version) or self.version is None:
            return None
        return f"recorded with version {self.case.version} of {self.case.dialog}, which is now {self.version}"


def replay(pipeline: Pipeline, conversations: Iterable[Conversation]) -> list[Replayed]:
    """Recognise and judge recorded conversations, complete because their input has ended."""
    out = []
    for conversation in conversations:
        recognition = pipeline.recognise(conversation)
        results: tuple[RunResult, ...] = ()
        if recognition.dialog is not None:
            runs = pipeline.runs(conversation, recognition.dialog)
            results = tuple(pipeline.judge_run(run).result for run in runs)
        out.append(Replayed(conversation, recognition, results))
    return out


def try_case(
    case: Case, file: CaseFile, index: int, recorded: Sequence[Replayed], versions: Mapping[str, int]
) -> Outcome:
    """Hold one case against the recordings that it names."""
    line = file.document.line(("cases", index))
    version = versions.get(case.dialog)
    found = _find(case, recorded)
    if isinstance(found, Difference):
        return Outcome(case, file, line, (found,), conversation=case.conversation, version=version)
    played, result = found
    return Outcome(
        case, file, line, tuple(differences(case.expect, result)), result, conversation=played.name, version=version
    )


def try_others(recorded: Sequence[Replayed], covered: Iterable[Outcome]) -> Iterator[Outcome]:
    """The runs that no case is about: they have to pass."""
    known = {outcome.result.run_id for outcome in covered if outcome.result is not None}
    for played in recorded:
        for result in played.results:
            if result.run_id not in known:
                yield _uncovered(played, result)


def _uncovered(played: Replayed, result: RunResult) -> Outcome:
    case = Case(
        case=case_name(played.name, result.play),
        dialog=result.dialog,
        version=result.dialog_version,
        conversation=played.name,
        play=result.play,
        expect=PASSES,
    )
    found = tuple(differences(PASSES, result))
    return Outcome(case, None, 0, found, result, conversation=played.name, version=result.dialog_version)


def case_name(conversation: str, play: int) -> str:
    """A name for the case of a run: ids may hold anything, names of cases are short and printable."""
    shown = "".join(char if char.isprintable() else "?" for char in conversation)[:150] or "?"
    return shown if play == 1 else f"{shown} play {play}"


def _find(case: Case, recorded: Sequence[Replayed]) -> tuple[Replayed, RunResult] | Difference:
    if case.conversation is None:
        return _only_run(case, recorded)
    named = [played for played in recorded if played.is_named(case.conversation)]
    if not named:
        return Difference("conversation", case.conversation, _there_is(recorded))
    for played in named:
        for result in played.results:
            if (result.dialog, result.play) == (case.dialog, case.play):
                return played, result
    playing = [played for played in named if played.results and played.results[0].dialog == case.dialog]
    if playing:
        return Difference("play", str(case.play), f"{len(playing[0].results)} of {case.dialog} in this conversation")
    return Difference("dialog", case.dialog, _recognised(named[0].recognition))


def _only_run(case: Case, recorded: Sequence[Replayed]) -> tuple[Replayed, RunResult] | Difference:
    runs = [
        (played, result)
        for played in recorded
        for result in played.results
        if (result.dialog, result.play) == (case.dialog, case.play)
    ]
    if len(runs) == 1:
        return runs[0]
    if not runs:
        return Difference("dialog", case.dialog, "no run of it in these traces")
    return Difference("conversation", "one run", f"{len(runs)}; name the conversation: {_there_is(recorded)}")


def _recognised(recognition: Recognition) -> str:
    if recognition.dialog is not None:
        return recognition.dialog.name
    named = f" ({', '.join(recognition.candidates)})" if recognition.candidates else ""
    return f"no run: recognition says {recognition.outcome}{named}"


def _there_is(recorded: Sequence[Replayed]) -> str:
    names = [played.name for played in recorded]
    shown = ", ".join(names[:_NAMED]) or "no conversation"
    return f"{shown}, .." if len(names) > _NAMED else shown
