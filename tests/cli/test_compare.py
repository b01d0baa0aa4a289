"""``aem-monitor compare``."""

import json
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "aem_monitor", "compare", "--jsonl"]


def compare(text: str | bytes) -> subprocess.CompletedProcess[bytes]:
    data = text.encode() if isinstance(text, str) else text
    return subprocess.run(COMMAND, input=data, capture_output=True, timeout=120)


def test_each_line_is_answered_with_one_line_in_order() -> None:
    done = compare(
        '{"a": "half past 7 in the evening", "b": "19:30", "kind": "time"}\n'
        '{"a": "next thursday", "b": "2019-03-07", "kind": "date", "reference_date": "2019-03-01"}\n'
        '{"a": "credit_card_1", "b": "credit_card_2"}\n'
        '{"reference": "Revenue was 1.2 million in 2024.", "response": "In 2024 it was 1.3 million."}'
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("equivalent") for answer in answers] == [True, True, False, None]
    assert (answers[3]["consistent"], answers[3]["complete"]) == (False, True)
    assert all(0.0 <= answer["score"] <= 1.0 for answer in answers)


def test_an_answer_comes_before_the_next_line_is_written() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for a in ("1", "2"):
            process.stdin.write(json.dumps({"a": a, "b": "1"}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["equivalent"] is (a == "1")
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{broken", b"not valid JSON"),
        (b'{"a": "\xff", "b": 1}', b"not valid JSON"),
        (b"[1, 2]", b"a line must be a JSON object"),
        (b'{"a": 1}', b"a line must have a and b"),
        (b'{"reference": "x", "response": null}', b"a line must have a and b"),
        (b'{"a": 1, "b": 1, "reference_date": "soon"}', b"reference_date must be an ISO date"),
        (b"[" * 100_000, b"not valid JSON"),
    ],
)
def test_a_bad_line_is_exit_2_and_named_after_the_answers_before_it(line: bytes, message: bytes) -> None:
    done = compare(b'{"a": 1, "b": 1}\n\n' + line + b"\n" + b'{"a": 2, "b": 2}\n')
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr.startswith(b"aem-monitor: standard input, line 3: ")
    assert message in done.stderr
    assert b"Traceback" not in done.stderr


def test_nothing_in_is_nothing_out() -> None:
    done = compare("")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_any_json_values_are_compared() -> None:
    values: list[object] = [None, True, 0, -1.5, 10**30, "", "x" * 20_000, [], {}, [{"a": [1, None]}], "\u0000\u2028"]
    lines = [json.dumps({"a": a, "b": b}) for a in values for b in values]
    done = compare("\n".join(lines))
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout.splitlines()) == len(lines)
