"""What the monitor has to say of the recordings, and how it is asked.

``python -m tests.demo.verdicts`` writes ``expected.json`` anew; its difference is to be read before it is committed.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from aem_monitor.build import build_pipeline, build_prefilter, build_registry
from aem_monitor.config.root import Config
from aem_monitor.config.settings import limits, pipeline_settings
from aem_monitor.demo.monitor import configuration
from aem_monitor.examples import example_dialogs, example_traces
from aem_monitor.golden.load import load_dialogs
from aem_monitor.ingest.files import read_files
from aem_monitor.model.render import result_object
from aem_monitor.model.verdict import RunResult
from aem_monitor.pipeline import Collected, Replayed, score_conversations

EXPECTED = Path(__file__).parent / "expected.json"


def replayed(traces: Path | None = None) -> Replayed:
    """The recordings, or other traces, through the pipeline, configured as the demo configures its daemon."""
    config = Config.model_validate(configuration(Path("unused"), 0))
    settings = pipeline_settings(config)
    conventions = build_registry()
    pipeline = build_pipeline(load_dialogs([example_dialogs()]), settings, conventions)
    keep = build_prefilter(conventions, settings.assembly, pipeline.recogniser.attributes)
    collected = Collected()
    for decoded in read_files([traces or example_traces()], limits(config), keep):
        collected.add(decoded)
    return score_conversations(pipeline, collected.conversations(pipeline))


def plain(results: Iterable[RunResult]) -> list[dict[str, Any]]:
    """Result objects by conversation, without the span ids, which are others in every recording."""
    objects = [orjson.loads(orjson.dumps(result_object(result))) for result in results]
    for one in objects:
        for turn in one["turns"]:
            turn.pop("span_id", None)
    return sorted(objects, key=lambda one: str(one["conversation_id"]))


if __name__ == "__main__":
    EXPECTED.write_bytes(
        orjson.dumps(plain(replayed().results), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    )
