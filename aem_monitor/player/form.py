"""The form of the file that ``aem-monitor canary run`` reads."""

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, SecretStr, field_validator, model_validator

from aem_monitor.config.section import FileName, Section
from aem_monitor.config.sinks import HEADER_VALUE, is_url
from aem_monitor.config.units import Duration
from aem_monitor.player.agent import pointer
from aem_monitor.player.template import NAMES, PLACES, fault_of, places_in, without_places
from aem_monitor.validation import KeyFaultError

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS: Final = frozenset(
    {
        *("accept-encoding", "connection", "content-encoding", "content-length", "content-type", "host"),
        *("transfer-encoding", "traceparent", "tracestate", "baggage"),
    }
)
_URL: Final = "must be a whole URL without credentials: http://127.0.0.1:8000/v1/chat/completions, or https://..."


class _Called(Section):
    """What is called over HTTP."""

    _places: ClassVar[Sequence[str]] = NAMES

    headers: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="HTTP headers of each request, with `{{ conversation_id }}` or `{{ dialog }}` where needed. "
        "What is secret is better kept in a file or variable.",
    )
    authorization_file: FileName | None = Field(
        None, description="File that holds the value of the header `Authorization`, such as `Bearer ...`."
    )
    authorization_env: str | None = Field(
        None, min_length=1, description="Environment variable that holds the value of the header `Authorization`."
    )
    cafile: FileName | None = Field(
        None, description="PEM file of the authorities that sign the server; default: the system's."
    )

    certfile: FileName | None = Field(
        None, description="PEM file of a certificate to show to the server, with its key unless `keyfile` has it."
    )
    keyfile: FileName | None = Field(None, description="PEM file of the key of `certfile`, without a password.")

    @model_validator(mode="after")
    def _key_has_a_certificate(self) -> Self:
        if self.keyfile is not None and self.certfile is None:
            raise KeyFaultError("keyfile", "is of no use without certfile; give both")
        return self

    @model_validator(mode="after")
    def _headers_can_be_sent(self) -> Self:
        if self.authorization_file is not None and self.authorization_env is not None:
            raise KeyFaultError("authorization_env", "give either this or authorization_file")
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name) or name.lower() in _OWN_HEADERS:
                raise KeyFaultError(("headers", name), "cannot be set; give the name of another HTTP header")
            if not HEADER_VALUE.fullmatch(value.get_secret_value()):
                raise KeyFaultError(("headers", name), "must be printable ASCII on one line")
            wrong = fault_of(value.get_secret_value(), self._places)
            if wrong:
                raise KeyFaultError(("headers", name), wrong)
            if name.lower() == "authorization" and (self.authorization_file or self.authorization_env):
                raise KeyFaultError(("headers", name), "is given here and by authorization_file or _env; keep one")
        return self


class OpenAI(Section):
    """An agent behind OpenAI's chat completions. Off unless it is written; give either this or `http`."""

    model: str = Field("agent", min_length=1, description="What is sent as `model`; many agents go by it.")
    history: Literal["player", "agent"] = Field(
        "player",
        description="Who keeps the conversation: `player` sends what was said before with each message, `agent` the "
        "new message alone. An agent that keeps it needs the id of the conversation, in a header or in `body`.",
    )
    body: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="Further fields of the request, with `{{ conversation_id }}` or `{{ dialog }}` in them where "
        "needed: `{user: '{{ conversation_id }}'}`.",
    )

    @field_validator("body")
    @classmethod
    def _places_are_known(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        wrong = fault_of(value, NAMES)
        if wrong:
            raise ValueError(wrong)
        for name in ("messages", "model", "stream"):
            if name in value:
                raise KeyFaultError(name, "is the player's own; leave it out")
        return value


class Http(Section):
    """An agent that takes and gives JSON over HTTP. Off unless it is written."""

    body: JsonValue = Field(
        description="The request, with `{{ message }}`, `{{ conversation_id }}`, `{{ dialog }}` anywhere in its texts, "
        "and `{{ history }}`, the messages before as a list of `{role, content}`, as the whole value of a key."
    )
    reply: str = Field(description="Where the reply stands in the answer, as a JSON pointer: `/output/text`.")

    @field_validator("body")
    @classmethod
    def _places_are_known(cls, value: JsonValue) -> JsonValue:
        wrong = fault_of(value, PLACES)
        if wrong:
            raise ValueError(wrong)
        if "message" not in places_in(value):
            raise ValueError("does not say what the user says; write {{ message }} where it belongs")
        return value

    @field_validator("reply")
    @classmethod
    def _is_a_pointer(cls, value: str) -> str:
        pointer(value)
        return value


class AgentForm(_Called):
    """The agent that is played against."""

    url: str = Field(
        description="Where messages are sent, by POST; with `{{ conversation_id }}` or `{{ dialog }}` where needed."
    )
    openai: OpenAI | None = Field(None)
    http: Http | None = Field(None)
    timeout: Duration = Field(60.0, gt=0, le=3600, description="Longest time for one exchange.")

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        check_url(self.url, "url")
        if (self.openai is None) == (self.http is None):
            raise KeyFaultError(
                "openai", "give either openai or http: how the agent is spoken to (`openai: {}` will do)"
            )
        return self


class OtlpForm(_Called):
    """The monitor, or a Collector before it: what is sent the player's own spans, one an exchange, over OTLP/HTTP.
    Without them no run is known by its dialog."""

    _places: ClassVar[Sequence[str]] = ()

    headers: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="HTTP headers of each request. What is secret is better kept in a file or variable.",
    )
    endpoint: str = Field("http://127.0.0.1:4318/v1/traces", description="Whole URL of the receiver for spans.")
    timeout: Duration = Field(10.0, gt=0, le=60, description="Longest time for one request.")

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if not is_url(self.endpoint):
            raise KeyFaultError("endpoint", "must be a whole URL without credentials: http://127.0.0.1:4318/v1/traces")
        if urlsplit(self.endpoint).path.endswith(("/v1/logs", "/v1/metrics")):
            raise KeyFaultError("endpoint", "is not for spans; most receivers have them at /v1/traces")
        return self


class ResetForm(_Called):
    """What puts the agent's world back before each play. Give `url` or `command`; with neither, nothing does."""

    url: str | None = Field(
        None,
        description="Called by POST with an empty JSON object, with `{{ conversation_id }}` or `{{ dialog }}` where "
        "needed; any status from 200 to 299 will do.",
    )
    command: Annotated[tuple[str, ...], Field(strict=False)] | None = Field(
        None,
        min_length=1,
        description="Program and its arguments, with the same places; run in the folder of this file, without a shell. "
        "Exit code 0 will do.",
    )
    timeout: Duration = Field(30.0, gt=0, le=3600, description="Longest time for it.")

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        if self.url is not None and self.command is not None:
            raise KeyFaultError("command", "give either this or url")
        if self.url is not None:
            check_url(self.url, "url")
        if self.command is not None:
            for key in ("headers", "authorization_file", "authorization_env", "cafile", "certfile"):
                if getattr(self, key):
                    raise KeyFaultError(key, "is of no use to a command; leave it out")
        wrong = fault_of(self.command, NAMES)
        if wrong:
            raise KeyFaultError("command", wrong)
        return self

    @property
    def of_one_conversation(self) -> bool:
        """Whether it is told which conversation it is for, so that it can leave others alone."""
        return "conversation_id" in places_in([self.url or "", *(self.command or ())])


class PlayForm(Section):
    """How much is played, and how fast."""

    repeats: int = Field(1, ge=1, le=10_000, description="Plays of each dialog.")
    concurrency: int = Field(1, ge=1, le=64, description="Plays at a time.")
    rate: float | None = Field(None, gt=0, le=60_000, description="Most plays that begin in a minute.")
    deadline: Duration = Field(3600.0, gt=0, description="No exchange begins later than this after the start.")
    error_budget: float = Field(
        0.1,
        ge=0,
        le=1,
        description="Share of all planned exchanges that may fail for want of an answer. One more ends everything.",
    )


class RunForm(Section):
    """What `aem-monitor canary run` plays, against which agent."""

    dialogs: Annotated[tuple[FileName, ...], Field(strict=False)] = Field(
        min_length=1, description="Files or folders with golden dialogs. Relative paths count from this file's folder."
    )
    agent: AgentForm
    otlp: OtlpForm = Field(default_factory=OtlpForm)
    reset: ResetForm = Field(default_factory=ResetForm)
    play: PlayForm = Field(default_factory=PlayForm)

    @model_validator(mode="after")
    def _plays_do_not_disturb_each_other(self) -> Self:
        resets = self.reset.url is not None or self.reset.command is not None
        if resets and self.play.concurrency > 1 and not self.reset.of_one_conversation:
            raise KeyFaultError(
                ("play", "concurrency"),
                "a reset would change the world under the plays beside it; play one at a time, or tell the reset its "
                "{{ conversation_id }}",
            )
        return self


def check_url(url: str, key: str) -> None:
    """Raises ``KeyFaultError`` for a URL to which nothing can be sent."""
    wrong = fault_of(url, NAMES)
    if wrong:
        raise KeyFaultError(key, wrong)
    plain = without_places(url)
    if not is_url(plain) or places_in(url.partition("://")[2].partition("/")[0]):
        raise KeyFaultError(key, _URL)
