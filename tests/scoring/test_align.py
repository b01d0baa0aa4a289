"""The assignment is optimal, respects the partial order, and prefers the last attempt on a tie."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.scoring.align import Edge, assign


def total(solution: dict[int, int], fits: dict[Edge, float]) -> int:
    return sum(round(fits[edge] * 10**6) for edge in solution.items())


def brute_force(fits: dict[Edge, float], before: list[Edge], order: list[int]) -> int:
    rows = sorted({e for e, _ in fits})
    options = [[None, *sorted(c for e, c in fits if e == row)] for row in rows]
    best = 0
    for choice in product(*options):
        taken = [c for c in choice if c is not None]
        if len(set(taken)) != len(taken):
            continue
        chosen = {row: c for row, c in zip(rows, choice, strict=True) if c is not None}
        if any(a in chosen and b in chosen and order[chosen[a]] > order[chosen[b]] for a, b in before):
            continue
        best = max(best, total(chosen, fits))
    return best


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict[Edge, float], list[Edge], list[int]]:
    expected, calls = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    fits = {
        (e, c): draw(st.sampled_from([0.2, 0.5, 0.5, 0.9, 1.0]))
        for e in range(expected)
        for c in range(calls)
        if draw(st.booleans())
    }
    before = [(a, b) for b in range(expected) for a in range(b) if draw(st.booleans())]
    order = sorted(draw(st.lists(st.integers(0, 4), min_size=calls, max_size=calls)))
    return fits, before, order


@given(problems())
def test_the_sum_of_fits_equals_that_of_brute_force(problem: tuple[dict[Edge, float], list[Edge], list[int]]) -> None:
    fits, before, order = problem
    solution = assign(fits, before, order)
    assert all(edge in fits for edge in solution.items())
    assert len(set(solution.values())) == len(solution)
    assert not any(a in solution and b in solution and order[solution[a]] > order[solution[b]] for a, b in before)
    assert total(solution, fits) == brute_force(fits, before, order)


def test_an_inserted_call_costs_nothing() -> None:
    assert assign({(0, 0): 1.0, (1, 2): 1.0}) == {0: 0, 1: 2}


def test_a_greedy_choice_does_not_block_the_better_total() -> None:
    assert assign({(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.9}) == {0: 1, 1: 0}


def test_on_a_tie_the_last_attempt_is_judged() -> None:
    assert assign({(0, 0): 1.0, (0, 1): 1.0, (0, 2): 0.5}) == {0: 1}


def test_calls_that_fit_equally_well_keep_the_order_of_the_listing() -> None:
    fits = {(e, c): 0.4 for e in range(4) for c in range(4)}
    assert assign(fits) == {0: 0, 1: 1, 2: 2, 3: 3}


def test_a_consumer_before_its_producer_loses_one_of_the_two() -> None:
    assert len(assign({(0, 1): 1.0, (1, 0): 1.0}, before=[(0, 1)])) == 1


def test_calls_of_one_round_are_not_ordered() -> None:
    assert assign({(0, 1): 1.0, (1, 0): 1.0}, before=[(0, 1)], order=[0, 0]) == {0: 1, 1: 0}


def test_nothing_to_assign_is_no_error() -> None:
    assert assign({}) == {}
