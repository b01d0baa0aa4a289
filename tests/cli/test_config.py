"""``aem-monitor config``."""

import json
from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from aem_monitor.config.load import load_config
from aem_monitor.golden.load import load_dialogs

Capture = pytest.CaptureFixture[str]

EXAMPLES = Path(__file__).parents[2] / "aem_monitor" / "examples" / "golden"


def test_check_prints_a_configuration_that_loads_again(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "aem.yaml"
    path.write_text(f"golden: {{paths: [{EXAMPLES}]}}\nassembly: {{idle: 90s}}\nmetrics: {{listen: '[::1]:1'}}\n")
    assert main(["config", "check", "--config", str(path)]) == 0
    again = tmp_path / "again.yaml"
    again.write_text(capsys.readouterr().out)
    assert load_config(again, {}) == load_config(path, {})


def test_check_lists_the_golden_dialogs(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "aem.yaml"
    path.write_text(f"golden: {{paths: [{EXAMPLES}]}}\n")
    assert main(["config", "check", "--config", str(path)]) == 0
    out = capsys.readouterr().out
    assert f"# golden dialogs: {len(load_dialogs([EXAMPLES]))}\n" in out
    assert "#   sales-report (version " in out


def test_check_reports_a_fault_with_its_line(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "aem.yaml"
    path.write_text("log:\n  level: loud\n")
    assert main(["config", "check", "--config", str(path)]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert f"{path}:2: log.level: must be 'debug', 'info', 'warning' or 'error', not 'loud'" in streams.err


def test_check_reads_golden_dialogs_as_run_would(tmp_path: Path, capsys: Capture) -> None:
    golden = tmp_path / "broken.yaml"
    golden.write_text("dialog: x\nturnz: []\n")
    path = tmp_path / "aem.yaml"
    path.write_text("golden: {paths: [broken.yaml]}\n")
    assert main(["config", "check", "--config", str(path)]) == 2
    assert f"{golden}:2: " in capsys.readouterr().err


def test_check_takes_overrides_from_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("AEM_MONITOR__LOG__LEVEL", "debug")
    assert main(["config", "check"]) == 0
    assert "  level: debug\n" in capsys.readouterr().out


KAFKA = "bootstrap_servers: ['b:1'], client: {security_protocol: SSL, ssl_password_file: none}"
AUTHORITY = "bootstrap_servers: ['b:1'], client: {security_protocol: SSL, ssl_cafile: none}"
OTLP = "endpoint: 'http://localhost:4318/v1/logs'"


@pytest.mark.parametrize(
    ("section", "key"),
    [
        (f"ingest: {{kafka: {{{KAFKA}}}}}", "ingest.kafka.client.ssl_password_file"),
        (f"sinks: {{kafka: {{topic: t, {KAFKA}}}}}", "sinks.kafka.client.ssl_password_file"),
        (f"ingest: {{kafka: {{{AUTHORITY}}}}}", "ingest.kafka.client.ssl_cafile"),
        (f"sinks: {{kafka: {{topic: t, {AUTHORITY}}}}}", "sinks.kafka.client.ssl_cafile"),
        (f"sinks: {{otlp: {{{OTLP}, authorization_file: none}}}}", "sinks.otlp.authorization_file"),
        ("experts: {judge: {url: 'http://m/v1', model: m, api_key_file: none}}", "experts.judge.api_key_file"),
        (
            "alerting: {receivers: {pagerduty: {routing_key_file: none}}}",
            "alerting.receivers.pagerduty.routing_key_file",
        ),
        (
            "alerting: {receivers: {webhook: {url: 'https://r.example', secret_file: none}}}",
            "alerting.receivers.webhook.secret_file",
        ),
        (
            "alerting: {receivers: {alertmanager: {url: 'https://a.example', cafile: none}}}",
            "alerting.receivers.alertmanager.cafile",
        ),
    ],
)
def test_check_reads_files_of_secrets_and_authorities_as_run_would(
    section: str, key: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "aem.yaml"
    path.write_text(f"{section}\n")
    assert main(["config", "check", "--config", str(path)]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert f"{key}: {tmp_path / 'none'} cannot be " in streams.err


def test_check_refuses_a_path_of_verdicts_that_leads_to_another_file(tmp_path: Path, capsys: Capture) -> None:
    path, verdicts = tmp_path / "aem.yaml", tmp_path / "verdicts.jsonl"
    path.write_text("sinks: {json_lines: {path: verdicts.jsonl}}\n")
    assert main(["config", "check", "--config", str(path)]) == 0
    assert not verdicts.exists()
    verdicts.write_bytes(b'{"run_id":"a"}\n{"run')
    assert main(["config", "check", "--config", str(path)]) == 0
    verdicts.write_bytes(b"SQLite format 3\0")
    capsys.readouterr()
    assert main(["config", "check", "--config", str(path)]) == 2
    assert f"sinks.json_lines: {verdicts} holds something else than verdicts" in capsys.readouterr().err
    assert verdicts.read_bytes() == b"SQLite format 3\0"


def test_check_says_when_there_are_no_golden_dialogs(capsys: Capture) -> None:
    assert main(["config", "check"]) == 0
    assert "golden.paths names no golden dialogs" in capsys.readouterr().err


def test_check_hides_secrets(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("AEM_MONITOR__STORE__URL", "postgresql://aem:hunter2@db/aem")
    assert main(["config", "check"]) == 0
    streams = capsys.readouterr()
    assert "hunter2" not in streams.out + streams.err
    assert "postgresql://aem:<hidden>@db/aem" in streams.out


def test_schema_is_one_json_schema(capsys: Capture) -> None:
    assert main(["config", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["title"] == "aem-monitor configuration"
    assert schema["additionalProperties"] is False
