"""What a line says, and the schema that is published for those who read it."""

import json
from pathlib import Path
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from aem_monitor.model.verdict import FailureReason, RunResult
from aem_monitor.sinks.line import BEGINNING, line
from aem_monitor.sinks.schema import line_schema
from aem_monitor.store.records import StoredRun
from tests.store.results import check, failing, results, run, turn

PUBLISHED: Final = Path(__file__).parents[2] / "deploy" / "schemas" / "verdict-line.schema.json"


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema, but with no other keys than those it names."""
    defs = {name: {**one, "additionalProperties": False} for name, one in schema["$defs"].items()}
    return {**schema, "$defs": defs, "additionalProperties": False}


VALIDATOR: Final = Draft202012Validator(closed(line_schema()))


def stored(result: RunResult, cause: str = "final") -> StoredRun:
    return StoredRun(result, final_at=100.0, stored_at=110.0, cause=cause)


def refused(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_the_published_schema_is_that_of_the_program() -> None:
    Draft202012Validator.check_schema(line_schema())
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == line_schema()


@given(results, st.sampled_from(["final", "late_span", "rescore"]))
def test_every_line_is_as_its_schema_says(result: RunResult, cause: str) -> None:
    if result.root_cause is FailureReason.PRIOR_ACTION_FAILED:
        return
    text = line(stored(result, cause))
    assert text.isascii()
    assert text.startswith(BEGINNING)
    assert text.index(b"\n") == len(text) - 1
    value = json.loads(text, parse_constant=refused)
    VALIDATOR.validate(value)
    assert (value["run_id"], value["revision"]) == (result.run_id, result.revision)


def test_a_line_has_the_result_object_its_evidence_and_when_it_was_stored() -> None:
    failed = failing(2, checks=(check(passed=False, expected="EU", actual="US"),), expected={"region": "EU"})
    value = json.loads(line(stored(run("run-1", turn(1), failed, first_failure_extra=True))))
    assert [one["turn_no"] for one in value["turns"]] == [1, 2]
    assert value["turns"][1]["expected"] == {"region": "EU"}
    assert value["turns"][1]["checks"][0]["actual"] == "US"
    assert value["first_failure_extra"] is True
    assert (value["final_at"], value["stored_at"], value["cause"]) == (100.0, 110.0, "final")


def test_numbers_that_json_lacks_are_texts() -> None:
    value = json.loads(line(stored(run("run-1", turn(1, actual={"total": float("inf")})))))
    assert value["turns"][0]["actual"] == {"total": "inf"}
