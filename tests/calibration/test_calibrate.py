"""Calibration: thresholds for stated costs, agreement beside a constant answer; what cannot be known is unknown."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.calibration import statistics
from aem_monitor.calibration.file import read_calibration
from aem_monitor.calibration.labels import ReplyLabel, Scored, score_labels
from aem_monitor.calibration.sweep import Costs, calibrate
from aem_monitor.cli.main import main
from aem_monitor.errors import ConfigError
from aem_monitor.scoring.scorers import EmbeddedScorer


def rows(*pairs: tuple[float, bool], submetric: str = "value") -> list[Scored]:
    return [Scored(submetric, score, label, str(index)) for index, (score, label) in enumerate(pairs)]


SEPARATED = rows(*[(0.9, True)] * 6, *[(0.2, False)] * 4)


def test_a_threshold_between_the_classes_is_chosen_with_room_on_both_sides() -> None:
    (found,) = calibrate(SEPARATED, Costs())
    assert 0.4 < found.threshold < 0.7
    assert (found.agreement.value, found.kappa.value, found.roc_area.value) == (1.0, 1.0, 1.0)
    assert found.constant == 0.6


def test_a_dear_false_pass_raises_the_threshold() -> None:
    mixed = rows((0.9, True), (0.7, True), (0.6, False), (0.5, True), (0.3, False), (0.1, False))
    cheap, dear = calibrate(mixed, Costs())[0], calibrate(mixed, Costs(false_pass=10))[0]
    assert dear.threshold > cheap.threshold
    assert dear.threshold > 0.6


def test_one_class_alone_leaves_area_and_correlation_unknown() -> None:
    (found,) = calibrate(rows((0.9, True), (0.4, True)), Costs())
    assert found.roc_area.value is None
    assert found.pearson.value is None
    assert found.constant == 1.0


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_figures_stay_in_their_ranges_whatever_the_labels(pairs: list[tuple[float, bool]]) -> None:
    scores = np.array([score for score, _ in pairs])
    labels = np.array([label for _, label in pairs])
    area, rank = statistics.roc_area(scores, labels), statistics.spearman(scores, labels)
    assert area is None or 0 <= area <= 1
    assert rank is None or -1.0000001 <= rank <= 1.0000001
    brute = [(s > o) + 0.5 * (s == o) for s, y in pairs if y for o, z in pairs if not z]
    assert area == (pytest.approx(sum(brute) / len(brute)) if brute else None)


def test_tied_ranks_are_averaged() -> None:
    assert statistics.ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]


def test_intervals_resample_groups_and_are_the_same_every_time() -> None:
    one = [Scored("value", 0.9, True, "g"), Scored("value", 0.2, True, "g"), Scored("value", 0.1, False, "h")]
    first, again = calibrate(one * 5, Costs())[0], calibrate(one * 5, Costs())[0]
    assert first.agreement == again.agreement


LABELS = [
    {"a": "NYC", "b": "New York City", "equivalent": True},
    {"a": "profit", "b": "revenue", "equivalent": False},
    {"a": "7:30 pm", "b": "19:30", "equivalent": True, "kind": "time"},
    {"reference": "Revenue was 1.2 million.", "response": "It was 1.3 million.", "consistent": False, "complete": None},
    {
        "reference": "Revenue was 1.2 million.",
        "response": "Revenue was 1.2 million.",
        "consistent": True,
        "complete": True,
    },
]


def test_the_command_writes_table_json_picture_and_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels, out, picture = tmp_path / "labels.jsonl", tmp_path / "calibration.json", tmp_path / "sweep.svg"
    labels.write_text("".join(json.dumps(row) + "\n" for row in LABELS), encoding="utf-8")
    assert main(["calibrate", str(labels), "-o", str(out), "--plot", str(picture)]) == 0
    table = capsys.readouterr().out
    assert "constant" in table
    assert "value" in table
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    assert set(read_calibration(out, "scoring.calibration").submetrics) == {
        "value",
        "response_truthfulness",
        "response_completeness",
    }
    assert main(["calibrate", "--json", str(labels)]) == 0
    assert {one["submetric"] for one in json.loads(capsys.readouterr().out)} >= {"value"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "1: not JSON"),
        ('{"a": 1}', "1: no label"),
        ("", "holds no labels"),
        ('{"run_id": "r", "turn_no": 1, "submetric": "truthfulness", "label": true}', "--store"),
    ],
)
def test_labels_that_cannot_be_used_say_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(content, encoding="utf-8")
    assert main(["calibrate", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_a_reply_s_score_is_its_share_of_right_claims() -> None:
    text = "Revenue was 1.2 million. Profit was 310000. We have 42 stores. The best region was Spain."
    row = ReplyLabel(reference=text, response=text.replace(" We have 42 stores.", ""), consistent=True, complete=False)
    found = {one.submetric: one.score for one in score_labels([row], EmbeddedScorer(), None)}
    assert found == {"response_truthfulness": 1.0, "response_completeness": pytest.approx(0.75)}


def test_a_file_that_is_no_calibration_is_refused_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"submetrics": {"value": {"threshold": 7}}}', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"scoring\.calibration.*submetrics\.value"):
        read_calibration(path, "scoring.calibration")
