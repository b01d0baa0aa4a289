"""Every recording with content, drafted and held against itself: it passes, without anything having been loosened."""

from pathlib import Path

import pytest

from aem_monitor.bootstrap.recorded import recording_of
from aem_monitor.build import PipelineSettings, build_pipeline, build_prefilter, build_registry
from aem_monitor.errors import UsageError
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.model.conversation import Conversation
from aem_monitor.pipeline import Collected
from tests.bootstrap.drafting import drafted, loaded, passes

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "tests" / "data" / "traces"
EXAMPLES = ROOT / "aem_monitor" / "examples" / "traces"
DIALOGS = Path(__file__).parent / "data"
FILES = sorted(
    [
        *(path for path in TRACES.rglob("*.json*") if not path.name.endswith((".expected.json", ".logs.json"))),
        *EXAMPLES.rglob("*.gz"),
        *DIALOGS.glob("*.jsonl"),
    ]
)


def conversations(path: Path) -> list[Conversation]:
    settings = PipelineSettings(require_where=False)
    conventions = build_registry()
    collected = Collected()
    logs = path.with_name(path.name.replace(".json", ".logs.json"))
    files = [path, logs] if logs.exists() else [path]
    for decoded in read_files(files, Limits(), build_prefilter(conventions, settings.assembly)):
        collected.add(decoded)
    return collected.conversations(build_pipeline((), settings, conventions))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recording_passes_its_own_draft(path: Path) -> None:
    for conversation in conversations(path):
        try:
            recording = recording_of(conversation)
        except UsageError as error:
            assert "was not captured" in str(error)  # noqa: PT017 - recordings without content are part of the data
            continue
        sheet, checked = drafted(recording)
        assert passes(loaded(sheet), recording) == [True]
        assert (checked.loosened, checked.failing) == ((), ())


def test_most_recordings_have_content() -> None:
    found = [exchange.user.text for path in FILES for one in conversations(path) for exchange in one.exchanges]
    assert len([text for text in found if text is not None]) > 0.8 * len(found)
