"""Names that Kafka knows: brokers and topics, refused here where Kafka would refuse them without a word to the user."""

import re
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field

_BROKER: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s/:\[\]]+):(\d{1,5})")
_MOST_CHARS: Final = 249
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]+")


def _broker(text: str) -> str:
    found = _BROKER.fullmatch(text)
    if found is None or not 0 < int(found[1]) <= 65535:
        raise ValueError(f'{text!r} is no broker; one is written "host:port": "broker:9092", "[::1]:9092"')
    return text


def topic_name(text: str) -> str:
    """The name, if Kafka allows it. Raises ``ValueError``."""
    if not _TOPIC.fullmatch(text) or text in (".", "..") or len(text) > _MOST_CHARS:
        raise ValueError(f"{text!r} is no name of a topic: up to 249 letters, digits, dots, hyphens and underscores")
    return text


Broker: TypeAlias = Annotated[str, AfterValidator(_broker)]
"""``host:port`` of a broker to begin with."""

TopicName: TypeAlias = Annotated[str, Field(min_length=1, max_length=_MOST_CHARS), AfterValidator(topic_name)]
"""As Kafka allows them (``org.apache.kafka.common.internals.Topic``): at most 249 characters."""
