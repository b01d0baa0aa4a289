"""The generated input is what its benchmark says it is."""

from pathlib import Path

import pytest

from aem_monitor.build import PipelineSettings, build_pipeline, build_prefilter, build_registry
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.pipeline import Collected
from tests.benchmarks.generated import write_file


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    sizes = [write_file(tmp_path / name, spans=600, other_share=0.5) for name in ("one.pb", "two.pb")]
    assert sizes[0] == sizes[1]
    assert (tmp_path / "one.pb").read_bytes() == (tmp_path / "two.pb").read_bytes()
    assert sizes[0].bytes == (tmp_path / "one.pb").stat().st_size


@pytest.mark.parametrize("other_share", [0.0, 0.5, 0.8])
def test_every_copy_of_a_recording_is_a_conversation_of_its_own(tmp_path: Path, other_share: float) -> None:
    size = write_file(tmp_path / "spans.pb", spans=800, other_share=other_share)
    assert 1 - size.agent_spans / size.spans == pytest.approx(other_share, abs=0.03)
    registry, settings = build_registry(), PipelineSettings(require_where=False)
    collected = Collected()
    for decoded in read_files([tmp_path / "spans.pb"], Limits(), build_prefilter(registry, settings.assembly)):
        collected.add(decoded)
    assert collected.seen_spans == size.spans
    found = collected.conversations(build_pipeline([], settings, registry))
    assert len(found) == size.conversations
    assert len({one.conversation_id for one in found}) == size.conversations
