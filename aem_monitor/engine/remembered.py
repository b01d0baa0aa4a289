"""A bounded memory of what has been decided, so that latecomers are recognised without keeping what they belong to."""

from collections import OrderedDict


class Remembered:
    """The most recent ``capacity`` keys with one word each; the oldest leave first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._words: OrderedDict[str, str] = OrderedDict()

    def put(self, key: str, word: str) -> None:
        """Remember ``key`` as the newest."""
        self._words[key] = word
        self._words.move_to_end(key)
        while len(self._words) > self._capacity:
            self._words.popitem(last=False)

    def get(self, key: str) -> str | None:
        """The word, or None when the key is not (or no longer) known."""
        return self._words.get(key)

    def drop(self, key: str) -> None:
        """Forget ``key`` if it is known."""
        self._words.pop(key, None)
