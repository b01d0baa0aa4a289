"""What all sections of the configuration have in common."""

from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from aem_monitor.config.units import ListenAddress
from aem_monitor.validation import KeyFaultError

Texts: TypeAlias = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of texts."""


FileName: TypeAlias = Annotated[Path, Field(strict=False)]
"""A file or folder; relative ones count from the configuration file."""


class Section(BaseModel):
    """A mapping of the configuration file: no unknown keys, no conversions between types, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, validate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _empty_is_default(cls, value: Any) -> Any:
        """A section whose keys are all commented out reads as null; it means the defaults."""
        return {} if value is None else value


class Listener(Section):
    """A section with an address that the daemon listens on."""

    listen: ListenAddress
    insecure: bool = Field(
        False,
        description="Allow `listen` to be reachable from other machines, without TLS or authentication. Do this only "
        "where the network keeps strangers out.",
    )

    @model_validator(mode="after")
    def _only_loopback(self) -> Self:
        if not self.listen.loopback and not self.insecure:
            raise KeyFaultError(
                "listen",
                f"{self.listen} can be reached from other machines, and this listener has no TLS or authentication "
                "yet; listen on 127.0.0.1, or write insecure: true beside it if the network is trusted",
            )
        return self
