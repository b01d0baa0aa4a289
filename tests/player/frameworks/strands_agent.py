"""An agent of Strands with its own telemetry. Arguments: model's URL, model, OTLP URL, release."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.tools import PythonAgentTool

from tests.player.frameworks import tools
from tests.player.frameworks.serving import serve


@tool(name="reports__FilterData")
def filter_data(metric: str, region: str) -> str:
    """Figures of a region."""
    return tools.filter_data(metric, region)


@tool(name="reports__Summarise")
def summarise(report: str) -> str:
    """Headline of a report."""
    return tools.summarise(report)


def _share(use: Mapping[str, Any], **_: Any) -> dict[str, Any]:
    return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": tools.share()}]}


# A parameter called "with" cannot be one of a Python function.
_PROPERTIES = {"report": {"type": "string"}, "with": {"type": "array", "items": {"type": "string"}}}
SHARE = PythonAgentTool(
    "reports__ShareReport",
    {
        "name": "reports__ShareReport",
        "description": "Share a report.",
        "inputSchema": {"json": {"type": "object", "properties": _PROPERTIES, "required": ["report", "with"]}},
    },
    _share,
)


def main() -> None:
    """Serve."""
    model_url, model, otlp, release = sys.argv[1:]
    provider = TracerProvider(resource=Resource.create({"service.name": "sales", "service.version": release}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(otlp)))
    trace.set_tracer_provider(provider)
    models = OpenAIModel(client_args={"base_url": model_url, "api_key": "none"}, model_id=model)

    def answer(messages: Sequence[Mapping[str, Any]]) -> str:
        said = [{"role": one["role"], "content": [{"text": one["content"]}]} for one in messages]
        agent = Agent(
            name="sales",
            model=models,
            messages=said[:-1],
            tools=[filter_data, summarise, SHARE],
            callback_handler=None,
        )
        return str(agent(messages[-1]["content"])).strip()

    serve(answer, provider)


if __name__ == "__main__":
    main()
