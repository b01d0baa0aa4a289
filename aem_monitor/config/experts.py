"""Configuration of expert scorers: asked only where typed rules and the embedded scorer are uncertain."""

from typing import Self

from pydantic import Field, SecretStr, model_validator

from aem_monitor.config.section import FileName, Section
from aem_monitor.config.units import Duration
from aem_monitor.validation import KeyFaultError


class Judge(Section):
    """An LLM behind the OpenAI-compatible chat completions interface. Needs the extra `judge`."""

    url: str = Field(pattern=r"^https?://", description="Base of the interface, such as `http://llm.local:8000/v1`.")
    model: str = Field(min_length=1, description="Model that is asked.")
    api_key: SecretStr | None = Field(None, description="Key sent as a bearer token; better its `_file`.")
    api_key_file: FileName | None = Field(None, description="File that holds the key.")
    timeout: Duration = Field(20.0, gt=0, description="Longest wait for one answer.")
    attempts: int = Field(3, ge=1, le=10, description="Most attempts for one question.")
    concurrency: int = Field(4, ge=1, le=64, description="Most questions under way at once.")
    calls_per_hour: int = Field(1000, ge=1, description="Most calls in any hour, retries and votes included.")
    votes: int = Field(3, ge=1, le=9, description="Answers asked for where the first one is unsure; the majority wins.")
    sure: float = Field(0.8, ge=0, le=1, description="Confidence from which one answer is enough.")

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if self.api_key is not None and self.api_key_file is not None:
            raise KeyFaultError("api_key", "is given here and by api_key_file; keep one")
        return self


class Sentence(Section):
    """A sentence-transformers model. Needs the extra `sentence`; the model is never fetched."""

    model: FileName = Field(description="Folder of the model.")


class Experts(Section):
    """At most one expert. Its failure is the cause `scorer_error`, never a verdict."""

    judge: Judge | None = Field(None, description="An LLM judge.")
    sentence: Sentence | None = Field(None, description="A sentence encoder.")
    deadline: Duration = Field(120.0, gt=0, description="Longest that a complete run waits for an expert's answers.")

    @model_validator(mode="after")
    def _one_expert(self) -> Self:
        if self.judge is not None and self.sentence is not None:
            raise KeyFaultError("sentence", "is configured beside judge; keep one expert")
        return self
