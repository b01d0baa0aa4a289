"""The file of ``canary run``: what is refused, where, and what comes of the rest."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.errors import ConfigError
from aem_monitor.player.agent import ChatCompletions, JsonOverHttp
from aem_monitor.player.plan import Plan, read_plan

MINIMAL = "dialogs: [golden]\nagent:\n  url: http://127.0.0.1:8000/v1/chat/completions\n  openai: {}\n"


def plan(
    folder: Path,
    text: str,
    changes: Mapping[Sequence[str], Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Plan:
    file = folder / "canary-run.yaml"
    file.write_text(text)
    return read_plan(file, changes or {}, environ or {})


def test_little_is_enough(tmp_path: Path) -> None:
    found = plan(tmp_path, MINIMAL)
    assert found.dialogs == (tmp_path / "golden",)
    assert found.dialect == ChatCompletions("agent")
    assert found.otlp.url == "http://127.0.0.1:4318/v1/traces"
    assert (found.reset, found.play.repeats, found.play.concurrency, found.play.rate) == (None, 1, 1, None)


def test_everything_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("Bearer of-file\n")
    found = plan(
        tmp_path,
        """
dialogs: [golden, other.yaml]
agent:
  url: https://agent.example/chat/{{ conversation_id }}
  http: {body: {text: "{{ message }}"}, reply: /out/text}
  headers: {X-Session: "{{ conversation_id }}"}
  authorization_file: key
  timeout: 2m
otlp: {endpoint: "http://collector:4318/v1/traces", authorization_env: OTLP_KEY}
reset: {command: [./reset, "{{ conversation_id }}"], timeout: 5s}
play: {repeats: 20, concurrency: 4, rate: 30, deadline: 1h, error_budget: 0.05}
""",
        environ={"OTLP_KEY": "Bearer of-variable"},
    )
    assert found.agent.headers == {"X-Session": "{{ conversation_id }}", "Authorization": "Bearer of-file"}
    assert found.otlp.headers == {"Authorization": "Bearer of-variable"}
    assert found.dialect == JsonOverHttp({"text": "{{ message }}"}, ("out", "text"))
    assert found.agent.client.timeout == 120.0
    assert found.agent.client.tls is not None
    assert found.reset is not None
    assert (found.reset.command, found.reset.folder, found.reset.timeout) == (
        ("./reset", "{{ conversation_id }}"),
        tmp_path,
        5.0,
    )
    assert "of-file" not in repr(found)


def test_the_command_line_goes_before_the_file(tmp_path: Path) -> None:
    changes: dict[Sequence[str], Any] = {
        ("agent", "url"): "http://a:1/",
        ("play", "repeats"): 3,
        ("reset", "url"): "http://a:1/reset",
    }
    found = plan(tmp_path, MINIMAL, changes)
    assert (found.agent.url, found.play.repeats) == ("http://a:1/", 3)
    assert found.reset is not None
    assert found.reset.endpoint is not None
    assert found.reset.endpoint.url == "http://a:1/reset"


def agent(more: str, url: str = "http://a/") -> str:
    return f"dialogs: [golden]\nagent:\n  url: '{url}'\n{more}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: must be a mapping of keys to values"),
        ("- a", ":1: must be a mapping of keys to values"),
        ("a: [", "not valid YAML"),
        ("dialogs: [golden]", "agent: required, but missing; add it"),
        ("dialogs: []\nagent: {url: 'http://a', openai: {}}", ":1: dialogs: must not be empty"),
        (MINIMAL + "playy: {}", ":5: playy: unknown key; did you mean 'play'?"),
        (agent("  openai: {}", "a:1"), ":3: agent.url: must be a whole URL without credentials"),
        (agent("  openai: {}", "ftp://a/"), ":3: agent.url: must be a whole URL"),
        (agent("  openai: {}", "http://me:secret@a/"), ":3: agent.url: must be a whole URL"),
        (agent("  openai: {}", "http://{{ dialog }}/"), ":3: agent.url: must be a whole URL"),
        (agent("  openai: {}", "http://a/{{ message }}"), ":3: agent.url: {{ message }} stands for nothing here"),
        (agent("  timeout: 5s"), "agent.openai: give either openai or http"),
        (agent("  openai: {}\n  http: {body: '{{ message }}', reply: /a}"), "agent.openai: give either openai or http"),
        (agent("  openai: {history: both}"), ":4: agent.openai.history: must be 'player' or 'agent', not 'both'"),
        (agent("  openai:\n    body: {messages: []}"), ":5: agent.openai.body.messages: is the player's own"),
        (agent("  openai:\n    body: {a: '{{ message }}'}"), ":5: agent.openai.body: {{ message }} stands for nothing"),
        (agent("  http:\n    body: {a: b}\n    reply: /a"), ":5: agent.http.body: does not say what the user says"),
        (agent("  http:\n    body: '{{ x }}'\n    reply: /a"), ":5: agent.http.body: {{ x }} stands for nothing here"),
        (agent("  http:\n    body: '{{ message }}'\n    reply: a.b"), ":6: agent.http.reply: a JSON pointer begins"),
        (agent("  openai: {}\n  headers: {traceparent: a}"), ":5: agent.headers.traceparent: cannot be set"),
        (agent("  openai: {}\n  headers: {'a b': a}"), ":5: agent.headers.a b: cannot be set"),
        (agent('  openai: {}\n  headers: {A: "b\\nc: d"}'), ":5: agent.headers.A: must be printable ASCII on one line"),
        (
            agent("  openai: {}\n  headers: {A: '{{ message }}'}"),
            ":5: agent.headers.A: {{ message }} stands",
        ),
        (
            agent("  openai: {}\n  authorization_file: a\n  headers: {authorization: b}"),
            ":6: agent.headers.authorization: is given here and by authorization_file or _env",
        ),
        (
            agent("  openai: {}\n  authorization_file: a\n  authorization_env: B"),
            ":6: agent.authorization_env: give",
        ),
        (agent("  openai: {}\n  authorization_file: none"), "agent.authorization_file: "),
        (agent("  openai: {}\n  authorization_env: NONE"), "agent.authorization_env: the environment variable NONE is"),
        (agent("  openai: {}\n  cafile: none", "https://a/"), "agent.cafile: "),
        (agent("  openai: {}\n  certfile: none", "https://a/"), "agent.certfile: "),
        (agent("  openai: {}\n  keyfile: none", "https://a/"), ":5: agent.keyfile: is of no use without certfile"),
        (agent("  openai: {}\n  timeout: 5"), ":5: agent.timeout: a duration is written with its unit"),
        (MINIMAL + "otlp: {endpoint: 'http://a:4318/v1/logs'}", ":5: otlp.endpoint: is not for spans"),
        (MINIMAL + "otlp: {headers: {A: '{{ dialog }}'}}", ":5: otlp.headers.A: {{ dialog }} stands for nothing here"),
        (MINIMAL + "reset: {url: 'http://a', command: [b]}", ":5: reset.command: give either this or url"),
        (MINIMAL + "reset: {command: ['{{ message }}']}", ":5: reset.command: {{ message }} stands for nothing"),
        (MINIMAL + "reset: {command: [b], headers: {A: b}}", ":5: reset.headers: is of no use to a command"),
        (MINIMAL + "play: {error_budget: 1.5}", ":5: play.error_budget: "),
        (MINIMAL + "play: {repeats: 0}", ":5: play.repeats: "),
        (MINIMAL + "reset: {url: 'http://a'}\nplay: {concurrency: 2}", ":6: play.concurrency: a reset would change"),
    ],
)
def test_a_fault_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plan(tmp_path, text)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_reset_that_knows_its_conversation_leaves_others_alone(tmp_path: Path) -> None:
    text = MINIMAL + "reset: {url: 'http://a/{{ conversation_id }}'}\nplay: {concurrency: 2}"
    assert plan(tmp_path, text).play.concurrency == 2


def test_a_fault_of_the_command_line_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"command line: play\.repeats: "):
        plan(tmp_path, MINIMAL, {("play", "repeats"): 0})


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read"):
        read_plan(tmp_path / "none.yaml", {}, {})
