"""A result of the gate for programs and for people."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Any, Final, NamedTuple

from aem_monitor.canary.changes import Change
from aem_monitor.canary.comments import listed, of_doubt, of_pass, rows, total
from aem_monitor.canary.endpoints import Difference, Endpoint, Finding
from aem_monitor.canary.gate import Result, Rules, State
from aem_monitor.canary.meeting import Alone
from aem_monitor.canary.played import Release
from aem_monitor.controls import visible
from aem_monitor.interval import wilson

SAID = {State.PASS: "pass", State.REGRESSION: "regression", State.NOT_ENOUGH_EVIDENCE: "not enough evidence"}

ENDPOINTS = {Endpoint.RUNS: "runs that pass", Endpoint.TURNS: "turns that are right"}


_DAY: Final = 86_400.0


class ReasonShare(NamedTuple):
    """Of the decided runs of each release, how many fail with this reason of the first root cause; found different or
    not."""

    reason: str
    baseline: float
    candidate: float


def reason_mix(releases: tuple[Release, Release]) -> list[ReasonShare]:
    """Those that became more frequent first."""
    shares = [_reason_shares(release) for release in releases]
    found = [
        ReasonShare(reason, *(of.get(reason, 0.0) for of in shares)) for reason in shares[0].keys() | shares[1].keys()
    ]
    return sorted(found, key=lambda one: (one.baseline - one.candidate, one.reason))


def _reason_shares(release: Release) -> dict[str, float]:
    decided = release.played
    counted = Counter(one.reason or "no root cause" for one in decided if not one.passed)
    return {reason: count / len(decided) for reason, count in counted.items()}


def result_object(
    names: tuple[str, str], releases: tuple[Release, Release], result: Result, rules: Rules
) -> dict[str, Any]:
    """The result as deploy/schemas/canary-result.schema.json describes it: a state, and numbers always."""
    return {
        "state": result.state.value,
        "decided_by": [one.value for one in result.decided_by],
        "baseline": {**_release(names[0], releases[0]), **_alone(result.baseline_alone)},
        "candidate": {**_release(names[1], releases[1]), **_alone(result.candidate_alone)},
        "pairs": result.pairs,
        "independent": result.independent,
        **{name.value: _finding(one) for name, one in result.found.items()},
        "undecided": _finding(result.undecided),
        "log_evidence_regression": result.log_regression,
        "log_evidence_pass": result.log_pass,
        "log_threshold": result.log_threshold,
        **_more(result),
        "margin": rules.margin,
        "tolerance": rules.tolerance,
        "alpha": rules.alpha,
        "one_look": result.one_look,
        "critical": list(result.critical),
        "critical_short": [
            {"dialog": one.dialog, "independent": one.independent, "needed": one.needed, "ran": one.ran}
            for one in result.short
        ],
        "submetrics": [
            {
                "submetric": one.submetric.value,
                "baseline": one.baseline or 0.0,
                "candidate": one.candidate or 0.0,
                **_difference(one.difference),
            }
            for one in result.submetrics
        ],
        "reasons": [one._asdict() for one in reason_mix(releases)],
        "changes": [
            {
                "area": one.area,
                "name": one.name,
                "worse": one.worse,
                **_difference(one.difference),
                "log_evidence": one.log_evidence,
            }
            for one in result.changes
        ],
        "gained": dict(result.gained),
        "lost": dict(result.lost),
    }


def _more(result: Result) -> dict[str, int]:
    if result.state is not State.NOT_ENOUGH_EVIDENCE:
        numbers: tuple[int | None, ...] = (0, 0, 0)
    else:
        numbers = (None, None, None) if result.more is None else (result.more.half, result.more.least, result.more.most)
    names = ("more_pairs", "more_pairs_least", "more_pairs_most")
    return {name: -1 if number is None else number for name, number in zip(names, numbers, strict=True)}


def _finding(found: Finding) -> dict[str, float]:
    return {
        **_difference(found.difference),
        "log_evidence_regression": found.log_regression,
        "log_evidence_pass": found.log_pass,
    }


def _difference(found: Difference) -> dict[str, float]:
    return {"difference": found.mean or 0.0, "difference_lower": found.lower, "difference_upper": found.upper}


def _release(name: str, release: Release) -> dict[str, Any]:
    runs = len(release.played)
    passed = sum(one.passed for one in release.played)
    lower, upper = wilson(passed, runs)
    correct = sum(one.correct for one in release.played)
    least, most = wilson(correct, runs)
    return {
        "release": name,
        "runs": runs,
        "passed": passed,
        "undecided": release.undecided,
        "before": release.before,
        "rate": passed / runs if runs else 0.0,
        "rate_lower": lower,
        "rate_upper": upper,
        "turns": correct / runs if runs else 0.0,
        "turns_lower": least,
        "turns_upper": most,
    }


def _alone(found: Mapping[Alone, Mapping[str, int]]) -> dict[str, Any]:
    return {"alone": total(found), "alone_by": {why.value: dict(dialogs) for why, dialogs in found.items()}}


def sentence(result: Result) -> str:
    """The state in a sentence: a pass beside changes for the worse, or dialogs that one release did not
    play, is never one without comment."""
    said = SAID[result.state]
    if result.state is State.REGRESSION:
        told = [ENDPOINTS[one] for one in result.decided_by]
        if result.critical:
            told.append(f"critical dialogs: {', '.join(result.critical)}")
        return f"{said} in {' and in '.join(told)}"
    if result.state is State.NOT_ENOUGH_EVIDENCE:
        return f"{said}: {of_doubt(result)}"
    failing = [one for one in result.changes if one.area != "latency"]
    if failing:
        said += ", but what fails has changed" if any(one.worse for one in failing) else "; some of it is better"
    if any(one.worse for one in result.changes if one.area == "latency"):
        said += ", but it is slower"
    if result.lost:
        # Where as many dialogs are gained, nothing else would tell.
        said += f"; {len(result.lost)} dialogs lost, {len(result.gained)} gained, by chance or not"
    return "; ".join((said, *of_pass(result)))


def change(one: Change) -> str:
    """A change in a line."""
    way = "worse" if one.worse else "better"
    return f"{one.area.replace('_', ' ')} {one.name}: {way}, {_interval(one.difference)}"


def facts(names: tuple[str, str], releases: tuple[Release, Release], result: Result) -> Iterator[tuple[str, str]]:
    """What the state rests on, name and value."""
    for role, name, release in zip(("baseline", "candidate"), names, releases, strict=True):
        one = _release(name, release)
        said = f"{name}: {one['passed']} of {one['runs']} runs pass ({_range(one, 'rate')})"
        if one["runs"]:
            said += f", {100 * one['turns']:.0f} % of turns are right ({_range(one, 'turns')})"
        left_out = f", {release.before} from before left out" if release.before else ""
        yield role, f"{said}, {release.undecided} undecided{left_out}"
    yield "pairs", f"{result.pairs}, {result.independent} independent, over which losses are means"
    yield from _apart(releases)
    for endpoint, found in result.found.items():
        yield f"loss of {ENDPOINTS[endpoint]}", _interval(found.difference)
    yield "loss if undecided runs are lost", _interval(result.undecided.difference)
    yield from rows(result)
    yield "intervals", "of rates: 95 %, at one look; of losses: 1 - alpha, at all looks"
    yield from _evidence(result)
    for share in result.submetrics:
        if share.baseline is not None and share.candidate is not None:
            told = f"fails in {100 * share.baseline:.1f} % of runs, now {100 * share.candidate:.1f} %"
            yield share.submetric.value, f"{told}: {_interval(share.difference)}"
    mixes = reason_mix(releases)
    if mixes:
        yield (
            "first root causes",
            listed([f"{one.reason} {_share(one.baseline)}, now {_share(one.candidate)}" for one in mixes]),
        )
    latencies = [[one.latency for one in release.played if one.latency is not None] for release in releases]
    if all(latencies):
        yield "latency", "median {:.3g} s, now {:.3g} s".format(*(median(one) for one in latencies))
    for said, dialogs in (("lost", result.lost), ("gained", result.gained)):
        ordered = sorted(dialogs.items(), key=lambda one: (-one[1], one[0]))
        told = listed([f"{name} ({100 * by:.1f} points)" for name, by in ordered])
        yield f"dialogs {said}", f"{len(dialogs)}, by chance or not: {told}" if dialogs else "0"


def _apart(releases: tuple[Release, Release]) -> Iterator[tuple[str, str]]:
    """Tools and data change by the day, and what they change is put down to the candidate."""
    if all(one.timed and one.played for one in releases):
        before, now = (median(one.order for one in release.played) for release in releases)
        if abs(now - before) > _DAY:
            days = abs(now - before) / _DAY
            yield (
                "time apart",
                f"{days:.0f} days between the middle runs of both releases: leave older ones out (--since)",
            )


def _evidence(result: Result) -> Iterator[tuple[str, str]]:
    """What was weighed against what is needed, and how the endpoints add to it."""
    if result.one_look:
        needed = math.exp(-result.log_threshold)
        each = _each(result, lambda one: _p(one.log_regression))
        yield (
            "p, regression",
            f"{_p(result.log_regression)} (needs {needed:.2g}); alone {each}",
        )
        each = _each(result, lambda one: _p(one.log_pass))
        each += f" and {_p(result.undecided.log_pass)} by runs if undecided ones are lost"
        yield "p, pass", f"{_p(result.log_pass)} (needs {needed:.2g}): the greatest of {each}"
    else:
        needed = math.exp(result.log_threshold)
        each = _each(result, lambda one: _odds(one.log_regression))
        yield "evidence of a regression", f"{_odds(result.log_regression)} (needs {needed:.3g}): the mean of {each}"
        each = _each(result, lambda one: _odds(one.log_pass))
        each += f" and {_odds(result.undecided.log_pass)} by runs if undecided ones are lost"
        yield "evidence of a pass", f"{_odds(result.log_pass)} (needs {needed:.3g}): the least of {each}"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def _each(result: Result, told: Callable[[Finding], str]) -> str:
    return " and ".join(f"{told(one)} by {name.value}" for name, one in result.found.items())


def markdown(names: tuple[str, str], releases: tuple[Release, Release], result: Result) -> str:
    """For the comment of a pull request."""
    lines = [f"### Canary: {_cell(sentence(result))}", "", "| | |", "| --- | --- |"]
    lines += [f"| {_cell(name)} | {_cell(value)} |" for name, value in facts(names, releases, result)]
    if result.changes:
        lines += ["", "Changes:", *(f"- {_cell(change(one))}" for one in result.changes)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Names come from agents: they are to be text here, neither markup nor the end of a cell."""
    plain = " ".join(visible(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{one}" if one in "\\`*_{}[]()#|!~@" else one for one in plain)


def _interval(found: Difference) -> str:
    return f"{points(found.mean)} points ({points(found.lower)} to {points(found.upper)})"


def _range(release: Mapping[str, float], name: str) -> str:
    return f"{100 * release[f'{name}_lower']:.0f} to {100 * release[f'{name}_upper']:.0f} %"


def points(share: float | None) -> str:
    """A share in points, with its sign."""
    return "-" if share is None else f"{100 * share:+.1f}"


def _p(log: float) -> str:
    """Evidence below 1 is no evidence."""
    return f"{math.exp(-max(0.0, log)):.2g}"


def _odds(log: float) -> str:
    return f"{math.exp(min(log, 690.0)):.3g}"
