"""Tool arguments out of recorded function calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.conventions.callinput import CallInput, read_call
from aem_monitor.model.jsonvalue import JSON

SCHEMA = {"properties": {"base": {"type": "string"}, "target": {"type": "string"}}}


def test_the_keywords_of_a_decorated_function_are_its_arguments() -> None:
    assert read_call({"args": [], "kwargs": {"a": 1}}) == CallInput({"a": 1})


def test_an_object_is_the_arguments_themselves() -> None:
    assert read_call({"order_id": "A-1"}) == CallInput({"order_id": "A-1"})


def test_a_tool_may_have_parameters_named_like_the_wrapper() -> None:
    assert read_call({"args": ["-l"], "command": "ls"}) == CallInput({"args": ["-l"], "command": "ls"})
    assert read_call({"inputs": {"a": 1}}) == CallInput({"inputs": {"a": 1}})


def test_positional_values_are_named_by_the_schema() -> None:
    assert read_call({"args": ["USD"], "kwargs": {"target": "EUR"}}, SCHEMA).arguments == {
        "base": "USD",
        "target": "EUR",
    }


def test_without_a_schema_one_positional_value_is_bare_and_several_are_unknown() -> None:
    assert read_call({"args": ["USD"], "kwargs": {}}) == CallInput(None, "USD")
    assert read_call({"args": ["USD", "EUR"], "kwargs": {}}) == CallInput(None)


def test_keywords_beside_a_positional_value_are_not_all_arguments() -> None:
    assert read_call({"args": ["usd"], "kwargs": {"target": "EUR"}}) == CallInput(None)


def test_the_class_that_an_encoder_leaves_of_self_is_no_argument() -> None:
    assert read_call({"args": ["ShopTools"], "kwargs": {"a": 1}}) == CallInput({"a": 1})
    assert read_call({"args": ["EUR"], "kwargs": {}}) == CallInput(None, "EUR")


def test_one_object_as_the_only_positional_value_is_the_arguments() -> None:
    assert read_call({"args": [{"a": 1}], "kwargs": {}}) == CallInput({"a": 1})


def test_langchain_has_an_object_beside_the_text_of_its_repr() -> None:
    callback: JSON = {"input_str": "{'a': 1}", "inputs": {"a": 1}, "tags": [], "kwargs": {"tool_call_id": "c"}}
    assert read_call(callback) == CallInput({"a": 1})


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{'a': 1, 'b': None, 'c': [True, 'it\\'s']}", {"a": 1, "b": None, "c": [True, "it's"]}),
        ("{'a': {'b': (1, 2)}}", {"a": {"b": (1, 2)}}),
    ],
)
def test_a_text_may_be_json_or_the_repr_of_an_object(text: str, arguments: JSON) -> None:
    assert read_call(text).arguments == arguments
    assert read_call({"input_str": text}).arguments == arguments


@pytest.mark.parametrize(
    "text", ["A-1042", "", "{'a': open('x')}", "{1: 2}", "{'a': {1, 2}}", "{" * 5000, "{'a': b'x'}"]
)
def test_any_other_text_is_a_bare_value(text: str) -> None:
    assert read_call(text) == CallInput(None, text)


@given(st.text(alphabet="{}[]()'\":,-+~0ab\\\n #"))
def test_no_text_breaks_it(text: str) -> None:
    assert isinstance(read_call("{" + text), CallInput)


def test_a_wrapper_that_was_cut_before_its_keywords_names_no_argument() -> None:
    assert read_call({"args": []}, cut=True) == CallInput(None)
    assert read_call({"args": [], "sanitize_inputs_outputs": True}, cut=True) == CallInput(None)
    assert read_call({"args": []}) == CallInput({"args": []})
