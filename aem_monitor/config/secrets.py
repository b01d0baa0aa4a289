"""Secrets from files."""

from pathlib import Path
from typing import Final

from aem_monitor.errors import ConfigError

_MAX_SECRET_BYTES: Final = 64 * 2**10


def read_secret(path: Path, key: str) -> str:
    """The text of a secret's file without the line break that editors put at its end.

    Raises ``ConfigError`` that names ``key`` and the file.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            text = stream.read(_MAX_SECRET_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(f"{key}: {path} cannot be read: {problem}") from error
    if len(text) > _MAX_SECRET_BYTES:
        raise ConfigError(f"{key}: {path} is longer than {_MAX_SECRET_BYTES} characters; it should hold one secret")
    secret = text.removesuffix("\n").removesuffix("\r")
    if not secret:
        raise ConfigError(f"{key}: {path} is empty; it should hold the secret")
    return secret
