"""An agent of the OpenAI Agents SDK with OpenInference. Arguments: model's URL, model, OTLP URL, release."""

import sys
from typing import Any

from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.player.frameworks import tools
from tests.player.frameworks.serving import serve


@function_tool(name_override="reports__FilterData")
def filter_data(metric: str, region: str) -> str:
    """Figures of a region."""
    return tools.filter_data(metric, region)


@function_tool(name_override="reports__Summarise")
def summarise(report: str) -> str:
    """Headline of a report."""
    return tools.summarise(report)


async def _share(_context: Any, _arguments: str) -> str:
    return tools.share()


SHARE = FunctionTool(
    name="reports__ShareReport",
    description="Share a report.",
    # A parameter called "with" cannot be one of a Python function.
    params_json_schema={
        "type": "object",
        "properties": {"report": {"type": "string"}, "with": {"type": "array", "items": {"type": "string"}}},
        "required": ["report", "with"],
        "additionalProperties": False,
    },
    on_invoke_tool=_share,
)


def main() -> None:
    """Serve."""
    model_url, model, otlp, release = sys.argv[1:]
    provider = TracerProvider(resource=Resource.create({"service.name": "sales", "service.version": release}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(otlp)))
    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    client = AsyncOpenAI(base_url=model_url, api_key="none")
    agent = Agent(
        name="sales",
        model=OpenAIChatCompletionsModel(model, client),
        tools=[filter_data, summarise, SHARE],
    )
    serve(lambda messages: str(Runner.run_sync(agent, [*messages]).final_output), provider)


if __name__ == "__main__":
    main()
