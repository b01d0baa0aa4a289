"""Experts in the configuration: at most one, keys from files, extras named where they are missing."""

from pathlib import Path

import pytest

from aem_monitor.config.load import load_config
from aem_monitor.errors import ConfigError
from aem_monitor.experts.build import build_expert

JUDGE = "experts: {{judge: {{url: 'http://127.0.0.1:9/v1', model: m{more}}}{beside}}}\n"


def load(tmp_path: Path, more: str = "", beside: str = "") -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(JUDGE.format(more=more, beside=beside), encoding="utf-8")
    return path


def test_without_experts_nobody_is_asked() -> None:
    assert build_expert(load_config(None, {}).experts) is None


def test_a_judge_takes_its_key_from_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n", encoding="utf-8")
    config = load_config(load(tmp_path, ", api_key_file: key"), {})
    expert = build_expert(config.experts)
    assert expert is not None
    assert expert.name.startswith("judge:m:")
    expert.close()


@pytest.mark.parametrize(
    ("more", "beside", "said"),
    [
        (", api_key: a, api_key_file: b", "", "keep one"),
        ("", ", sentence: {model: folder}", "keep one expert"),
        (", url: 'ftp://x'", "", "url"),
        (", attempts: 0", "", "attempts"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, more: str, beside: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_config(load(tmp_path, more, beside), {})


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    config = load_config(load(tmp_path, ", api_key_file: nowhere"), {})
    with pytest.raises(ConfigError, match=r"experts\.judge\.api_key_file.*nowhere"):
        build_expert(config.experts)


def test_a_missing_model_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("experts: {sentence: {model: nowhere}}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="nowhere"):
        build_expert(load_config(path, {}).experts)
