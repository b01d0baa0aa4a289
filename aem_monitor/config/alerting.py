"""Configuration of built-in alerting: what is worth a page, and who is told."""

import re
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, field_validator, model_validator

from aem_monitor.alerting.detect import Settings
from aem_monitor.alerting.faults import RECEIVERS
from aem_monitor.config.section import FileName, Section
from aem_monitor.config.sinks import is_url
from aem_monitor.config.units import Duration
from aem_monitor.validation import KeyFaultError

ROUTING_KEY: Final = re.compile(r"[A-Za-z0-9]{32}")
"""What an integration key of PagerDuty looks like."""

_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_OWN_LABELS: Final = frozenset({"alertname", "severity", "component", "agent", "release", "reason", "detector"})
_DEFAULTS: Final = Settings()
_URL_FORM: Final = "must be a whole URL without credentials: https://..."


class _Receiver(Section):
    timeout: Duration = Field(10.0, gt=0, le=60.0, description="Longest time for one request.")
    cafile: FileName | None = Field(
        None, description="PEM file of the authorities that sign the receiver; default: the system's."
    )


class PagerDuty(_Receiver):
    """PagerDuty, by its Events API v2; off until it has a key."""

    routing_key: SecretStr | None = Field(None, description="Integration key of the service; better kept in a file.")
    routing_key_file: FileName | None = Field(None, description="File that holds the integration key.")
    url: str = Field(
        "https://events.pagerduty.com",
        description="Address of the API. Accounts in Europe: `https://events.eu.pagerduty.com`.",
    )

    @model_validator(mode="after")
    def _can_be_told(self) -> Self:
        if not is_url(self.url) or urlsplit(self.url).path.strip("/"):
            raise KeyFaultError("url", "must be the address of the API without a path: https://events.pagerduty.com")
        if (self.routing_key is None) == (self.routing_key_file is None):
            raise KeyFaultError("routing_key_file", "give either this or routing_key")
        if self.routing_key is not None and not ROUTING_KEY.fullmatch(self.routing_key.get_secret_value()):
            raise KeyFaultError("routing_key", "must be the 32 letters and digits of an integration key")
        return self


class Alertmanager(_Receiver):
    """Alertmanager, by its API v2; off until it has an address."""

    url: str = Field(description="Address of Alertmanager, such as `http://alertmanager:9093`.")
    labels: dict[str, str] = Field(
        default_factory=lambda: {"job": "aem-monitor"},
        description="Labels of each alert. `job` has to be that of the scrape, so that these alerts and those of the "
        "rules for Prometheus are one group, and page once; it is `aem-monitor` where it is not given.",
    )
    resolve_after: Duration = Field(
        300.0,
        ge=60.0,
        description="For how long an alert holds without being posted again, which is done four times as often.",
    )
    authorization_file: FileName | None = Field(
        None, description="File that holds the value of the header `Authorization`, such as `Bearer ...`."
    )

    @model_validator(mode="after")
    def _can_be_told(self) -> Self:
        if not is_url(self.url):
            raise KeyFaultError("url", _URL_FORM)
        for name in self.labels:
            if not _LABEL.fullmatch(name) or name in _OWN_LABELS:
                raise KeyFaultError(("labels", name), "cannot be set; give the name of another label")
        return self

    @field_validator("labels")
    @classmethod
    def _have_a_job(cls, value: dict[str, str]) -> dict[str, str]:
        return {"job": "aem-monitor", **value}


class Webhook(_Receiver):
    """Any receiver of JSON over HTTP; off until it has an address."""

    url: SecretStr = Field(
        description="Address that notifications are posted to. It may hold a token, and is not shown."
    )
    secret_file: FileName | None = Field(
        None,
        description="File with the secret by which notifications are signed: HMAC-SHA256 of the body, in the header "
        "`X-Aem-Monitor-Signature`.",
    )
    authorization_file: FileName | None = Field(
        None, description="File that holds the value of the header `Authorization`, such as `Bearer ...`."
    )

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, value: SecretStr) -> SecretStr:
        if not is_url(value.get_secret_value()):
            raise ValueError(_URL_FORM)
        return value


class Receivers(Section):
    """Who is told; alerting is off until there is one."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "null"]})

    pagerduty: PagerDuty | None = Field(None)
    alertmanager: Alertmanager | None = Field(None)
    webhook: Webhook | None = Field(None)

    @property
    def names(self) -> tuple[str, ...]:
        """Of those that are on."""
        return tuple(name for name in RECEIVERS if getattr(self, name) is not None)


class Alerting(Section):
    """Built-in alerting, off until it has a receiver. All replicas of one store need the same section."""

    receivers: Receivers = Field(default_factory=Receivers)
    source: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        "aem-monitor",
        description="Name of this installation, as PagerDuty's source. A part of what tells incidents apart.",
    )
    false_pages: float = Field(
        _DEFAULTS.false_pages,
        gt=0,
        le=100,
        description="Expected pages without a cause in thirty days, of all agents together. Fewer are found later.",
    )
    cool_down: Duration = Field(_DEFAULTS.cool_down, ge=0, description="For how long an incident is open at least.")
    max_per_hour: int = Field(
        60, ge=1, le=3600, description="Most notifications a receiver gets, after a burst of ten; the others wait."
    )
    give_up: Duration = Field(
        86400.0, ge=60.0, description="For how long a notification is tried while its receiver fails."
    )
    lease: Duration = Field(
        30.0,
        gt=0,
        description="After how long without a sign of the replica that decides another takes over. At least three "
        "times as long as any `timeout`.",
    )

    @model_validator(mode="after")
    def _lease_outlasts_requests(self) -> Self:
        for name in self.receivers.names:
            if getattr(self.receivers, name).timeout * 3 > self.lease:
                raise KeyFaultError(
                    "lease",
                    f"must be at least three times receivers.{name}.timeout: a request has to end before "
                    "another replica takes over",
                )
        return self

    @property
    def enabled(self) -> bool:
        """Whether there is anybody to tell."""
        return bool(self.receivers.names)
