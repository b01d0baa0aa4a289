"""A result survives being stored, whatever is in it."""

import json
import math
from types import MappingProxyType

import pytest
from hypothesis import given, settings

from aem_monitor.errors import StoreError
from aem_monitor.model.verdict import RunResult
from aem_monitor.store import Store
from aem_monitor.store.codec import decode_result, encode_run, encode_turn
from tests.store.results import check, results, run, turn


def there_and_back(result: RunResult) -> RunResult:
    return decode_result(encode_run(result), [encode_turn(one) for one in result.turns])


@given(results)
@settings(deadline=None)
def test_any_result_is_read_back_as_it_was_written(result: RunResult) -> None:
    assert there_and_back(result) == result


@given(results)
@settings(deadline=None, max_examples=50)
def test_any_result_passes_through_a_database(result: RunResult) -> None:
    with Store("sqlite://") as store:
        store.record_final(result, [], stored_at=100.0)
        stored = store.run(result.run_id)
        assert stored is not None
        assert stored.result == result


def test_numbers_that_json_lacks_are_kept() -> None:
    (read,) = there_and_back(run("r", turn(actual=[math.nan, math.inf, 2**80]))).turns
    assert repr(read.actual) == f"[nan, inf, {2**80}]"


def test_read_only_mappings_are_written_as_objects() -> None:
    result = run("r", turn(expected=MappingProxyType({"a": (1, 2)})))
    assert there_and_back(result).turns[0].expected == {"a": [1, 2]}


def test_keys_of_a_later_version_are_ignored_and_missing_ones_take_their_default() -> None:
    head = json.loads(encode_run(run()))
    body = json.loads(encode_turn(turn(1, checks=(check(),), attempts=1)))
    del head["recognised_by"], body["attempts"]
    head["mood"] = body["mood"] = body["checks"][0]["mood"] = "good"
    assert decode_result(json.dumps(head), [json.dumps(body)]) == run("run-1", turn(1, checks=(check(),)))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"run_id": "r", "root_cause": "bad luck"}'])
def test_what_is_no_result_is_reported(text: str) -> None:
    with pytest.raises(StoreError, match="cannot be read") as caught:
        decode_result(text, [])
    assert caught.value.reason == "corrupt"
