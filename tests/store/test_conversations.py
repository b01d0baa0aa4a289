"""A conversation comes back from the store as it was, except for what was taken out, and that is not captured."""

import json
import zlib
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aem_monitor.config.root import Config
from aem_monitor.config.settings import keeping
from aem_monitor.errors import StoreError
from aem_monitor.model.conversation import (
    NOT_CAPTURED,
    Conversation,
    Exchange,
    Response,
    ToolCall,
    UserMessage,
)
from aem_monitor.store.conversations import Keeping, pack, unpack
from aem_monitor.store.redaction import Redaction, as_captured
from tests.playing import Call, conversation, exchange
from tests.store.results import check, failing, run

_texts = st.text(st.characters(), max_size=12)
_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_ids = st.lists(_texts, max_size=3).map(tuple)
_users = st.builds(UserMessage, st.none() | _texts, st.integers())
_calls = st.builds(
    ToolCall,
    name=_texts,
    tool=_texts,
    action=st.none() | _texts,
    arguments=st.none() | st.dictionaries(_texts, _json, max_size=3),
    result=st.just(NOT_CAPTURED) | _json,
    error=st.none() | _texts,
    start_ns=st.integers(0, 2**64),
    end_ns=st.integers(0, 2**64),
    trace_id=_texts,
    span_id=st.none() | _texts,
    round=st.integers(0, 9),
    arguments_truncated=st.booleans(),
    nested=st.booleans(),
)
_replies = st.builds(Response, st.none() | _texts, st.integers(), _texts, error=st.none() | _texts)
_exchanges = st.builds(
    Exchange,
    user=_users,
    calls=st.lists(_calls, max_size=3).map(tuple),
    response=st.none() | _replies,
    start_ns=st.integers(),
    end_ns=st.integers(),
    trace_ids=_ids,
    root_seen=st.booleans(),
    missing_parents=st.booleans(),
)
conversations = st.builds(
    Conversation,
    key=_texts,
    conversation_id=st.none() | _texts,
    agent=_texts,
    release=st.none() | _texts,
    model=st.none() | _texts,
    exchanges=st.lists(_exchanges, max_size=3).map(tuple),
    trace_ids=_ids,
    first_ns=st.integers(),
    last_ns=st.integers(),
    dialog_ids=_ids,
    partial=st.booleans(),
)


def there_and_back(found: Conversation, redaction: Redaction | None = None) -> Conversation:
    packed = pack(found, Keeping(redaction=redaction or Redaction()))
    assert packed is not None
    assert packed.body is not None
    return unpack(packed.body)


@given(conversations)
@settings(deadline=None)
def test_any_conversation_is_read_back_as_it_was_written(found: Conversation) -> None:
    assert there_and_back(found) == found
    assert as_captured(there_and_back(found)) == found


def test_attributes_are_left_out() -> None:
    plain = conversation(exchange("Hello", [], "Hi."))
    values = {one.name: getattr(plain, one.name) for one in fields(plain)}
    assert there_and_back(Conversation(**{**values, "attributes": {"host": b"\x00"}})) == plain


def test_keys_of_a_later_version_are_ignored_and_missing_ones_take_their_default() -> None:
    plain = conversation(exchange("Hello", [Call("a.b", {"x": 1})], "Hi."))
    packed = pack(plain, Keeping())
    assert packed is not None
    assert packed.body is not None
    body = json.loads(zlib.decompress(packed.body))
    del body["aliases"], body["exchanges"][0]["calls"][0]["call_id"]
    body["mood"] = body["exchanges"][0]["mood"] = "good"
    assert unpack(zlib.compress(json.dumps(body).encode())) == plain


@pytest.mark.parametrize("body", [b"", b"nothing", zlib.compress(b"{"), zlib.compress(b"[]"), zlib.compress(b"{}")])
def test_what_is_no_conversation_is_reported(body: bytes) -> None:
    with pytest.raises(StoreError, match="conversation cannot be read") as caught:
        unpack(body)
    assert caught.value.reason == "corrupt"


def test_of_a_conversation_over_the_bound_only_its_size_is_kept() -> None:
    long = conversation(exchange("Hello " * 1000, [], "Hi."))
    packed = pack(long, Keeping(max_bytes=5000))
    assert packed is not None
    assert packed.body is None
    assert packed.size > 6000
    assert pack(long, Keeping(conversations=False)) is None


# Redaction

RULES = Redaction.of(["Password", "card"], {"email": r"[\w.]+@[\w.]+\w", "phone": r"\+\d{8,}"})


def test_named_fields_and_matching_texts_leave_typed_marks() -> None:
    said = exchange(
        "I am dana@example.com",
        [
            Call(
                "mail.send",
                {"to": "dana@example.com", "PASSWORD": "secret", "deep": [{"card": 4111}, {"card": None}], "n": 3},
                {"dana@example.com": "sent to +4912345678 for dana@example.com", "card": [1]},
                error="no route to dana@example.com",
            )
        ],
        "Sent to dana@example.com.",
    )
    (stored,) = there_and_back(conversation(said), RULES).exchanges
    (call,) = stored.calls
    assert stored.user.text == "I am [redacted:email]"
    assert call.arguments == {
        "to": "[redacted:email]",
        "PASSWORD": "[redacted:string]",
        "deep": [{"card": "[redacted:number]"}, {"card": "[redacted:null]"}],
        "n": 3,
    }
    assert call.result == {
        "[redacted:email]": "sent to [redacted:phone] for [redacted:email]",
        "card": "[redacted:array]",
    }
    assert call.error == "no route to [redacted:email]"
    assert stored.response is not None
    assert stored.response.text == "Sent to [redacted:email]."


def test_what_was_taken_out_was_not_captured_when_the_run_is_judged_again() -> None:
    said = exchange(
        "I am dana@example.com",
        [
            Call("a", {"to": "dana@example.com", "n": 3}, {"ok": True, "card": 1}),
            Call("b", {"n": 1}, "dana@example.com"),
            Call("c", {"n": 1}, ["x", "y dana@example.com"]),
        ],
        "Sent to dana@example.com.",
    )
    (seen,) = as_captured(there_and_back(conversation(said), RULES)).exchanges
    assert seen.user.text is None
    assert seen.response is not None
    assert seen.response.text is None
    assert [(call.arguments, call.arguments_truncated) for call in seen.calls] == [
        ({"n": 3}, True),
        ({"n": 1}, False),
        ({"n": 1}, False),
    ]
    assert [(call.result, call.result_truncated) for call in seen.calls] == [
        ({"ok": True}, True),
        (NOT_CAPTURED, True),
        (["x"], True),
    ]


def test_a_text_that_is_no_unicode_does_not_escape_a_pattern() -> None:
    assert RULES.text("\ud800 dana@example.com") == "? [redacted:email]"


def test_evidence_is_redacted_by_the_argument_that_it_is_of() -> None:
    turn = failing(
        1,
        expected={"call": "pay", "args": {"card": "4111"}},
        actual={"call": "pay", "args": {"card": "4222"}},
        checks=(check(field="payment.card", expected="4111", actual="4222"), check(field="to", actual="d@e.com")),
    )
    (stored,) = RULES.result(run("r", turn)).turns
    assert stored.actual == {"call": "pay", "args": {"card": "[redacted:string]"}}
    assert [(one.expected, one.actual) for one in stored.checks] == [
        ("[redacted:string]", "[redacted:string]"),
        (None, "[redacted:email]"),
    ]


def test_without_rules_nothing_is_touched() -> None:
    result = run("r", failing(1, actual={"a": (1, 2)}))
    assert Redaction().result(result) is result


@pytest.mark.parametrize("pattern", [r"(a)\1", "(", "[0-9]*"])
def test_a_pattern_that_cannot_be_used_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"RE2|empty"):
        Redaction.of((), {"word": pattern})


def test_the_configuration_says_what_is_kept() -> None:
    value = {
        "conversations": {"keep": False, "max_bytes": "2KiB", "retention": "7d"},
        "redact": {"fields": ["Card"], "patterns": {"email": "@"}},
    }
    kept = keeping(Config.model_validate({"store": value}))
    assert (kept.conversations, kept.max_bytes) == (False, 2048)
    assert kept.redaction.value({"card": 1, "to": "a@b"}) == {"card": "[redacted:number]", "to": "a[redacted:email]b"}
