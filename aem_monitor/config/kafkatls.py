"""Files by which the Kafka client proves who it is and learns whom to trust, looked at before it needs them."""

import ssl
from collections.abc import Callable
from functools import partial
from pathlib import Path

from aem_monitor.config.ingest import KafkaClient
from aem_monitor.errors import ConfigError


def check_tls(client: KafkaClient, key: str, password: str | None) -> None:
    """Read the files as the client will at each connection: it would say nothing but that no broker answers.

    ``key`` is where the section stands; ``password`` opens the private key. Where connections are not made over TLS,
    nothing is read.

    Raises:
        ConfigError: with the setting whose file cannot be used.
    """
    if not client.security_protocol.endswith("SSL"):
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if client.ssl_cafile is not None:
        _use(context.load_verify_locations, client.ssl_cafile, f"{key}.ssl_cafile")
    if client.ssl_certfile is not None:
        if client.ssl_keyfile is not None:
            _use(Path.read_bytes, client.ssl_keyfile, f"{key}.ssl_keyfile")
        # Without a pass phrase OpenSSL would ask for one at the terminal.
        load = partial(context.load_cert_chain, keyfile=client.ssl_keyfile, password=lambda: password or "")
        _use(load, client.ssl_certfile, f"{key}.ssl_certfile", " with its private key (ssl_keyfile, ssl_password)")


def _use(read: Callable[[Path], object], path: Path, key: str, together: str = "") -> None:
    try:
        read(path)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{key}: {path} cannot be used{together}: {error}") from error
