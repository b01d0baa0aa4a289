"""The connections of kafka-python 3.0.12, and why they failed: the client itself says that in its own log only."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from kafka.errors import KafkaConnectionError
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

_HUNG_UP: Final = "socket disconnected"
"""A broker that refuses a client hangs up, and may do so before its reason arrives."""

_UNSPECIFIC: Final = (_HUNG_UP, "timed out", "Timeout")
"""Says less than what an earlier attempt ended in. The last attempt has only what is left of the time for all."""

_OF_SECURITY: Final = ("Handshake failed", "SSL", "Sasl", "Invalid frame length", _HUNG_UP)
"""In what is said when both sides do not speak TLS, or not the same, or one does not trust the other. Who speaks no
TLS to a listener that does takes the beginning of an alert for a length."""

_HINT: Final = "check security_protocol, ssl_* and sasl_* of its client section"


class _Manager(KafkaConnectionManager):  # type: ignore[misc]
    """Takes note of what each new connection ends in. All of it happens on the client's thread."""

    failure: BaseException | None = None

    def get_connection(self, node_id: Any, *arguments: Any, **options: Any) -> Any:
        new = node_id not in self._conns
        connection = super().get_connection(node_id, *arguments, **options)
        if new:
            connection.init_future.add_both(self._note)
        return connection

    def _note(self, outcome: object) -> None:
        if not isinstance(outcome, BaseException):
            self.failure = None
        elif self.failure is None or not any(word in str(outcome) for word in _UNSPECIFIC):
            self.failure = outcome


class KafkaClient(KafkaNetClient):  # type: ignore[misc]
    """What a consumer or a producer is given as its ``kafka_client``."""

    def __init__(self, **configuration: object) -> None:
        net = NetworkSelector(**configuration)
        self._noting = _Manager(net, **configuration)
        super().__init__(net, self._noting, **configuration)

    @property
    def trouble(self) -> str | None:
        """Why the last attempt to connect to a broker failed; None where it did not."""
        failure = self._noting.failure
        return None if failure is None else reason(failure)


class Clients:
    """Makes the client of a consumer or a producer, by their argument ``kafka_client``, and keeps it in ``made``."""

    def __init__(self) -> None:
        self.made: list[KafkaClient] = []

    def __call__(self, **configuration: object) -> KafkaClient:
        self.made.append(KafkaClient(**configuration))
        return self.made[-1]


@contextmanager
def connecting() -> Iterator[Clients]:
    """Where a consumer or a producer is made. If that fails its client is closed, whose thread would go on running.

    Raises:
        KafkaConnectionError: in place of any error of the body, where it is known why brokers could not be reached.
    """
    clients = Clients()
    try:
        yield clients
    except BaseException as error:
        trouble = next((client.trouble for client in clients.made if client.trouble is not None), None)
        for client in clients.made:
            client.close()
        if trouble is None or not isinstance(error, Exception):
            raise
        raise KafkaConnectionError(trouble) from error


def reason(error: BaseException) -> str:
    """An error of the client in words, with its kind said once, and what to look at where it is about security."""
    text = str(error) or type(error).__name__
    while (rest := text.removeprefix(f"{type(error).__name__}: ")) != text:
        text = rest
    if not isinstance(error, KafkaConnectionError):
        text = f"{type(error).__name__}: {text}"
    return f"{text}; {_HINT}" if any(word in text for word in _OF_SECURITY) and _HINT not in text else text
