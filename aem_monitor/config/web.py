"""Configuration of the pages that people read."""

from pydantic import Field, field_validator

from aem_monitor.config.section import Section
from aem_monitor.config.sinks import is_url
from aem_monitor.links import TraceLink


class Web(Section):
    """The pages on the admin listener: runs with their error maps, releases, dialogs."""

    trace_link: str | None = Field(
        None,
        description="Address of a trace in your tracing backend, with `{trace_id}` and, if it is to be opened there, "
        "`{span_id}` in it: `https://jaeger.example/trace/{trace_id}?uiFind={span_id}`. Without it pages show the ids.",
    )

    external_url: str | None = Field(
        None,
        description="Address at which people reach the admin listener, such as `https://aem-monitor.example`. "
        "Notifications then link to the pages of runs, and a listener on loopback answers under that name too.",
    )

    @field_validator("external_url")
    @classmethod
    def _is_a_url(cls, value: str | None) -> str | None:
        if value is not None and not is_url(value):
            raise ValueError("must be a whole URL without credentials: https://...")
        return value

    @field_validator("trace_link")
    @classmethod
    def _is_a_template(cls, value: str | None) -> str | None:
        if value is not None:
            TraceLink.parse(value)
        return value

    @property
    def traces(self) -> TraceLink | None:
        """What makes links of trace ids."""
        return None if self.trace_link is None else TraceLink.parse(self.trace_link)
