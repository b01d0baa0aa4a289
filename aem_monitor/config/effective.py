"""The configuration in force as text that may be shown: the same file again, without its secrets."""

import re

import yaml

from aem_monitor.config.root import Config
from aem_monitor.model.jsonvalue import JSON

HIDDEN = "<hidden>"

_URL_PASSWORD = re.compile(r"(?<=://)([^:@/]*):[^?]*@")
_URL_QUERY_SECRET = re.compile(r"(?<=[?&])((?:password|passwd|secret|token|sslpassword)=)[^&]*", re.IGNORECASE)


def effective(config: Config) -> dict[str, JSON]:
    """Every key with the value in force, durations and sizes with their units, secrets as ``<hidden>``."""
    value: dict[str, JSON] = config.model_dump(mode="json", warnings="error")
    store = dict(value["store"])  # type: ignore[arg-type]
    store["url"] = hide_password(config.store.url)
    value["store"] = store
    return value


def effective_yaml(config: Config) -> str:
    """``effective`` as a YAML file that loads again where no secret was hidden."""
    return yaml.safe_dump(effective(config), sort_keys=False, allow_unicode=True, width=100)


def hide_password(url: str) -> str:
    """A database URL without its password, neither in the authority nor in the query."""
    return _URL_QUERY_SECRET.sub(rf"\1{HIDDEN}", _URL_PASSWORD.sub(rf"\1:{HIDDEN}@", url))
