"""Requests with places for values."""

import pytest

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.player.template import (
    NAMES,
    PLACES,
    Message,
    Values,
    fault_of,
    filled,
    filled_header,
    filled_text,
    filled_url,
)

VALUES = Values(
    conversation_id="c-1",
    dialog="refund & más",
    message='Say "{{ dialog }}"\nand {{ nothing }}',
    history=(Message("user", "Hi"), Message("assistant", "Hello")),
)


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("{{ message }}", VALUES.message),
        ({"a": [{"b": "{{message}}"}, 1, None, True]}, {"a": [{"b": VALUES.message}, 1, None, True]}),
        ("<{{ conversation_id }}|{{ dialog }}>", "<c-1|refund & más>"),
        (
            {"messages": "{{ history }}", "{{ dialog }}": 1},
            {
                "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
                "{{ dialog }}": 1,
            },
        ),
        ("{ message } {{ {x} }} {% raw %}", "{ message } {{ {x} }} {% raw %}"),
    ],
)
def test_places_are_filled_in_texts_and_nothing_that_was_put_in_is_filled_again(template: JSON, found: JSON) -> None:
    assert filled(template, VALUES) == found


def test_a_value_is_one_part_of_a_url_and_of_a_header() -> None:
    assert (
        filled_url("http://a/{{ dialog }}/x?c={{ conversation_id }}", VALUES)
        == "http://a/refund%20%26%20m%C3%A1s/x?c=c-1"
    )
    assert filled_header("id {{ dialog }}", VALUES) == "id refund%20&%20m%C3%A1s"
    assert filled_text("{{ dialog }}", VALUES) == "refund & más"


@pytest.mark.parametrize(
    ("template", "allowed", "said"),
    [
        ({"a": ["{{ mesage }}"]}, PLACES, "{{ mesage }} stands for nothing here; known: message, conversation_id"),
        ("{{ message }}", NAMES, "{{ message }} stands for nothing here; known: conversation_id, dialog"),
        ("{{ message.__class__ }}", PLACES, "{{ message.__class__ }} stands for nothing"),
        ("{{ }}", PLACES, "{{  }} stands for nothing"),
        ("so far: {{ history }}", PLACES, "let it be the whole value of a key"),
        ({"a": "{{ history }}", "b": "{{ message }}"}, PLACES, None),
    ],
)
def test_a_place_that_is_none_is_a_fault(template: JSON, allowed: tuple[str, ...], said: str | None) -> None:
    found = fault_of(template, allowed)
    assert found is None if said is None else said in str(found)
