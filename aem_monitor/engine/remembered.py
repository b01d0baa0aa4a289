"""A bounded memory of what has been decided, so that latecomers are recognised without keeping what they belong to."""

from collections import OrderedDict
from typing import Generic, TypeVar

V = TypeVar("V")


class Remembered(Generic[V]):
    """The most recent ``capacity`` keys with one value each; the oldest leave first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[str, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def put(self, key: str, value: V) -> None:
        """Remember ``key`` as the newest."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._capacity:
            self._values.popitem(last=False)

    def get(self, key: str) -> V | None:
        """The value, or None when the key is not (or no longer) known."""
        return self._values.get(key)

    def drop(self, key: str) -> None:
        """Forget ``key`` if it is known."""
        self._values.pop(key, None)
