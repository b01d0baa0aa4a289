"""The pool never blocks who asks, never asks twice at once, and answers every question in the end."""

import threading
from collections.abc import Sequence

from aem_monitor.experts.base import Scores
from aem_monitor.experts.pool import ExpertPool
from aem_monitor.scoring.oracle import Question


class Slow:
    """Answers when it may, with the length of what was expected."""

    name = "slow"

    def __init__(self) -> None:
        self.may = threading.Event()
        self.asked: list[str] = []
        self.fails = False

    def answer(self, questions: Sequence[Question]) -> Scores:
        self.may.wait(10)
        self.asked += [question.key for question in questions]
        if self.fails:
            raise RuntimeError("no model")
        return {question.key: 0.5 for question in questions if question.key != "hard"}

    def close(self) -> None:
        return


class Answers:
    """Collects answers and waits for them."""

    def __init__(self) -> None:
        self.found: dict[str, float | None] = {}
        self._came = threading.Condition()

    def __call__(self, scores: Scores) -> None:
        with self._came:
            self.found.update(scores)
            self._came.notify_all()

    def wait_for(self, *keys: str) -> dict[str, float | None]:
        with self._came:
            assert self._came.wait_for(lambda: set(keys) <= self.found.keys(), 10)
        return self.found


def questions(*keys: str) -> list[Question]:
    return [Question(key, "value", "expected", "actual") for key in keys]


def test_every_question_is_answered_and_failures_are_none() -> None:
    expert, answers = Slow(), Answers()
    pool = ExpertPool(expert, answers)
    pool.start()
    expert.may.set()
    pool.ask(questions("easy", "hard"))
    assert answers.wait_for("easy", "hard") == {"easy": 0.5, "hard": None}
    assert pool.waiting == 0
    pool.stop(5)


def test_a_question_that_is_being_answered_is_not_asked_again() -> None:
    expert, answers = Slow(), Answers()
    pool = ExpertPool(expert, answers)
    pool.start()
    for _ in range(5):
        pool.ask(questions("one"))
    expert.may.set()
    answers.wait_for("one")
    assert expert.asked == ["one"]
    pool.stop(5)


def test_a_full_queue_answers_none_at_once() -> None:
    answers = Answers()
    pool = ExpertPool(Slow(), answers, capacity=1)
    pool.ask(questions("kept", "refused"))
    assert answers.found == {"refused": None}
    pool.stop(0)


def test_an_expert_that_raises_ends_neither_thread_nor_questions() -> None:
    expert, answers = Slow(), Answers()
    expert.fails = True
    expert.may.set()
    pool = ExpertPool(expert, answers)
    pool.start()
    pool.ask(questions("one"))
    assert answers.wait_for("one") == {"one": None}
    expert.fails = False
    pool.ask(questions("two"))
    assert answers.wait_for("two")["two"] == 0.5
    pool.stop(5)
