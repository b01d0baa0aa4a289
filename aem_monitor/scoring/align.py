"""Assignment of expected turns to actual calls: optimal under a partial order.

Fits are exact integers inside, so that two runs of the same data always agree. The unordered problem is solved by the
shortest augmenting path form of the Hungarian method (Kuhn 1955; Jonker and Volgenant 1987). Only where its solution
breaks an order constraint is the affected component searched by branch and bound.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

Edge = tuple[int, int]
"""(expected index, call index)."""

_FIT_SCALE: Final = 10**6
_MAX_NODES: Final = 50_000
"""Branch and bound stops here and keeps its best so far: real exchanges need some dozens of nodes, and a hostile one
must not hold the engine."""


def assign(
    fits: Mapping[Edge, float], before: Collection[Edge] = (), order: Sequence[int] | None = None
) -> dict[int, int]:
    """Pair expected turns with calls so that the sum of fits is maximal.

    ``fits`` holds the allowed pairs with a fit in (0, 1]; a pair that is not in it is never made. ``before`` holds
    pairs (a, b) of expected turns where b consumes a: if both are assigned, a's call must not come after b's.
    ``order`` gives the rank of each call in time; calls of one model round share a rank and are not ordered among
    themselves. Among solutions of equal fit the one with the later calls wins: the last attempt counts. Among those
    the one that keeps the order of the listing: where ids were invented anew, two reads of a kind fit equally well.

    Returns expected index -> call index; an expected turn that is left out has no entry.
    """
    if not fits:
        return {}
    calls = sorted({call for _, call in fits})
    tie_scale = (len(calls) + 1) ** 2
    place = {call: at for at, call in enumerate(calls)}
    row = {expected: at for at, expected in enumerate(sorted({expected for expected, _ in fits}))}
    # Of all ways to pair two rising lists the one in order has the greatest sum of products.
    order_scale = len(row) * len(calls) * max(len(row), len(calls)) + 1
    weights = {
        (expected, call): (max(1, round(fit * _FIT_SCALE)) * tie_scale + place[call]) * order_scale
        + row[expected] * place[call]
        for (expected, call), fit in fits.items()
    }
    solution = _hungarian(weights)
    ranks = {call: (order[call] if order is not None else call) for call in calls}
    constraints = [(a, b) for a, b in before if a != b]
    if not _violations(solution, constraints, ranks):
        return solution
    for component in _components(weights, constraints):
        part = {edge: weight for edge, weight in weights.items() if edge[0] in component}
        inside = [(a, b) for a, b in constraints if a in component and b in component]
        if _violations({e: c for e, c in solution.items() if e in component}, inside, ranks):
            for expected in component:
                solution.pop(expected, None)
            solution.update(_branch_and_bound(part, inside, ranks))
    return solution


def _violations(solution: Mapping[int, int], before: Collection[Edge], ranks: Mapping[int, int]) -> bool:
    return any(a in solution and b in solution and ranks[solution[a]] > ranks[solution[b]] for a, b in before)


def _hungarian(weights: Mapping[Edge, int]) -> dict[int, int]:
    """Maximum weight matching; every expected turn may also stay unmatched at weight 0."""
    rows = sorted({expected for expected, _ in weights})
    columns = sorted({call for _, call in weights})
    width = len(columns) + len(rows)
    top = max(weights.values())
    # Minimise top - weight; an edge that is not allowed costs more than leaving both sides unmatched.
    cost = [[top - weights.get((row, column), -1) for column in columns] + [top] * len(rows) for row in rows]
    infinity = (top + 2) * (len(rows) + 1)
    row_potential = [0] * (len(rows) + 1)
    column_potential = [0] * (width + 1)
    matched_row = [0] * (width + 1)
    for i in range(1, len(rows) + 1):
        matched_row[0] = i
        column = 0
        least = [infinity] * (width + 1)
        previous = [0] * (width + 1)
        used = [False] * (width + 1)
        while True:
            used[column] = True
            row = matched_row[column]
            delta, following = infinity, 0
            for j in range(1, width + 1):
                if used[j]:
                    continue
                reduced = cost[row - 1][j - 1] - row_potential[row] - column_potential[j]
                if reduced < least[j]:
                    least[j], previous[j] = reduced, column
                if least[j] < delta:
                    delta, following = least[j], j
            for j in range(width + 1):
                if used[j]:
                    row_potential[matched_row[j]] += delta
                    column_potential[j] -= delta
                else:
                    least[j] -= delta
            column = following
            if matched_row[column] == 0:
                break
        while column:
            matched_row[column] = matched_row[previous[column]]
            column = previous[column]
    return {
        rows[matched_row[j] - 1]: columns[j - 1]
        for j in range(1, len(columns) + 1)
        if matched_row[j] and (rows[matched_row[j] - 1], columns[j - 1]) in weights
    }


def _components(weights: Mapping[Edge, int], before: Collection[Edge]) -> list[set[int]]:
    """Expected turns that can influence each other: by an order constraint or by a call that both could take."""
    leader: dict[int, int] = {expected: expected for expected, _ in weights}

    def find(expected: int) -> int:
        while leader[expected] != expected:
            expected = leader[expected]
        return expected

    first_of_call: dict[int, int] = {}
    for expected, call in sorted(weights):
        leader[find(expected)] = find(first_of_call.setdefault(call, expected))
    for a, b in before:
        if a in leader and b in leader:
            leader[find(a)] = find(b)
    groups: dict[int, set[int]] = {}
    for expected in leader:
        groups.setdefault(find(expected), set()).add(expected)
    return [groups[key] for key in sorted(groups)]


def _branch_and_bound(
    weights: Mapping[Edge, int], before: Collection[Edge], ranks: Mapping[int, int]
) -> dict[int, int]:
    rows = sorted({expected for expected, _ in weights})
    options = {row: sorted(((w, c) for (e, c), w in weights.items() if e == row), reverse=True) for row in rows}
    bound = [0] * (len(rows) + 1)
    for at in range(len(rows) - 1, -1, -1):
        bound[at] = bound[at + 1] + options[rows[at]][0][0]
    best: dict[int, int] = {}
    best_weight = -1
    nodes = 0

    def descend(at: int, chosen: dict[int, int], taken: set[int], weight: int) -> None:
        nonlocal best, best_weight, nodes
        nodes += 1
        if weight > best_weight:
            best, best_weight = dict(chosen), weight
        if at == len(rows) or weight + bound[at] <= best_weight or nodes > _MAX_NODES:
            return
        row = rows[at]
        for gain, call in options[row]:
            if call in taken:
                continue
            chosen[row] = call
            if not _violations(chosen, before, ranks):
                taken.add(call)
                descend(at + 1, chosen, taken, weight + gain)
                taken.discard(call)
            del chosen[row]
        descend(at + 1, chosen, taken, weight)

    descend(0, {}, set(), 0)
    return best
