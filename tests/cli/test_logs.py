"""Log lines."""

import json
import logging

import pytest

from aem_monitor.cli.logs import start_logging

Capture = pytest.CaptureFixture[str]

log = logging.getLogger("aem_monitor.test")


@pytest.fixture(autouse=True)
def _restored_root_logger() -> object:
    root = logging.getLogger()
    before = (root.level, root.handlers[:])
    yield
    root.setLevel(before[0])
    root.handlers[:] = before[1]


def test_a_text_line_has_time_level_logger_message_and_fields(capsys: Capture) -> None:
    start_logging("info")
    log.info("started", extra={"port": 4318})
    log.debug("not shown")
    line = capsys.readouterr().err.strip()
    assert line.partition(" ")[2] == "info aem_monitor.test: started port=4318"


def test_a_message_cannot_forge_a_line(capsys: Capture) -> None:
    start_logging("info")
    log.warning("bad file %s", "a\n2026 error forged")
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_line_and_its_traceback_do_not_steer_a_terminal(capsys: Capture) -> None:
    start_logging("info")
    steering = "\x1b[2J\x07\x9b1m\u202e\u2028\r\n\tend"
    try:
        raise ValueError(steering)
    except ValueError:
        log.exception("does not answer: %s", steering)
    err = capsys.readouterr().err
    assert "does not answer: \\x1b[2J\\x07\\x9b1m\\u202e\\u2028\\r\\n\tend\n" in err
    assert all(char.isprintable() or char in "\t\n" for char in err)


def test_a_json_line_is_one_object_with_its_fields(capsys: Capture) -> None:
    start_logging("warning", "json")
    log.info("not shown")
    try:
        raise ValueError("broken")
    except ValueError:
        log.exception("failed", extra={"source": "kafka"})
    entry = json.loads(capsys.readouterr().err)
    assert (entry["level"], entry["message"], entry["source"]) == ("error", "failed", "kafka")
    assert entry["time"].endswith("Z")
    assert "ValueError: broken" in entry["exception"]


def test_nothing_goes_to_standard_output(capsys: Capture) -> None:
    start_logging("debug")
    log.error("broken")
    assert capsys.readouterr().out == ""


def test_what_the_kafka_client_says_of_every_attempt_is_left_out(capsys: Capture) -> None:
    """The source says it, once a minute."""
    start_logging("debug")
    logging.getLogger("kafka.net.manager").error("connection failed: ECONNREFUSED")
    assert capsys.readouterr().err == ""
