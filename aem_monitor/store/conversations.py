"""The conversations of final runs, as they were assembled: what a later version of their dialog is judged by.

JSON as in ``codec``, compressed with zlib. The form follows the fields of ``model.conversation``: a field that this
version does not know is ignored, a missing one takes its default, and what was not captured has no key. Attributes of
resources and spans, which recognition alone reads, are not kept.
"""

import json
import types
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from typing import Any, Final, Union, get_args, get_origin

from aem_monitor.errors import StoreError
from aem_monitor.model.conversation import NOT_CAPTURED, Conversation
from aem_monitor.store.codec import dump_json
from aem_monitor.store.redaction import Redaction

_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class Keeping:
    """Which conversations are kept: none, or those of at most ``max_bytes`` before they are compressed.

    ``redaction`` holds for all that is stored, verdicts included. ``sinks`` are the names of those that every final
    verdict is kept for until they have taken it.
    """

    conversations: bool = True
    max_bytes: int = 1024 * 1024
    redaction: Redaction = field(default_factory=Redaction)
    sinks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Packed:
    """A conversation as it is stored. ``size`` in bytes before compression; no ``body``: it is too large to be kept."""

    size: int
    body: bytes | None


def pack(conversation: Conversation, keeping: Keeping) -> Packed | None:
    """What is stored of a conversation; None where none are kept."""
    if not keeping.conversations:
        return None
    text = dump_json(_encoded(replace(keeping.redaction.conversation(conversation), attributes={}))).encode()
    if len(text) > keeping.max_bytes:
        return Packed(len(text), None)
    return Packed(len(text), zlib.compress(text, _LEVEL))


def unpack(body: bytes) -> Conversation:
    """The inverse of ``pack``, redaction marks included.

    Raises:
        StoreError: it is no such conversation (reason ``corrupt``).
    """
    try:
        found = _decoded(Conversation, json.loads(zlib.decompress(body)))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError) as error:
        message = f"a stored conversation cannot be read: {error}; restore the database from a backup or remove it"
        raise StoreError(message, reason="corrupt") from error
    assert isinstance(found, Conversation)
    return found


def _encoded(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        items = {one.name: getattr(value, one.name) for one in fields(value)}
        return {name: _encoded(item) for name, item in items.items() if item is not NOT_CAPTURED}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {name: _encoded(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_encoded(item) for item in value]
    return value


def _decoded(kind: Any, stored: Any) -> Any:
    """``stored`` as a value of an annotation; what an annotation leaves open stays plain JSON."""
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{one.name: item for one in fields(kind) for item in _given(one, stored)})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple and isinstance(stored, Sequence):
        return tuple(_decoded(arguments[0], item) for item in stored)
    if origin is frozenset and isinstance(stored, Sequence):
        return frozenset(stored)
    if origin is Mapping and isinstance(stored, Mapping):
        return {name: _decoded(arguments[1], item) for name, item in stored.items()}
    if origin in (Union, types.UnionType) and stored is not None:
        parts = [one for one in arguments if is_dataclass(one) or get_origin(one) in (tuple, frozenset, Mapping)]
        return _decoded(parts[0], stored) if len(parts) == 1 else stored
    return stored


def _given(wanted: Field[Any], stored: Mapping[str, Any]) -> Sequence[Any]:
    """The value of a field, if it is to be set."""
    if wanted.name in stored:
        return (_decoded(wanted.type, stored[wanted.name]),)
    if wanted.default is MISSING and wanted.default_factory is MISSING and _may_be_uncaptured(wanted.type):
        return (NOT_CAPTURED,)
    return ()


def _may_be_uncaptured(kind: Any) -> bool:
    return any(NOT_CAPTURED in get_args(one) for one in get_args(kind))
