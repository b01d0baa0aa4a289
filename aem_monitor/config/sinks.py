"""Configuration of the sinks: where final verdicts go beside the store."""

from pydantic import ConfigDict, Field

from aem_monitor.config.section import FileName, Section
from aem_monitor.config.units import Duration, Size


class JsonLines(Section):
    """A file with every final verdict and revision as a line of JSON, off until it has a path."""

    path: FileName = Field(
        description="File that is written, readable by its owner only. Its folder has to be there. The files before it "
        "are beside it: `verdicts.jsonl.1` is the latest of them. Each replica needs a path of its own."
    )
    max_bytes: Size = Field(
        64 * 1024 * 1024, gt=0, description="Longest file; a line that is longer has a file of its own."
    )
    max_files: int = Field(
        10, ge=2, le=10000, description="Most files, the one that is written included; the oldest goes."
    )
    max_age: Duration = Field(
        86400.0, gt=0, description="How long a file is written at most, so that others may take it whole."
    )


class Sinks(Section):
    """Where final verdicts go beside the store."""

    # With all of its keys commented out, as in the example, the section is null.
    model_config = ConfigDict(json_schema_extra={"type": ["object", "null"]})

    json_lines: JsonLines | None = Field(None)
