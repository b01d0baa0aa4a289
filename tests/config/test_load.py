"""What a configuration file may say, and how it is told what is wrong with it."""

import json
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.config.environment import variables
from aem_monitor.config.load import load_config, require_golden
from aem_monitor.config.root import Config
from aem_monitor.config.units import Address
from aem_monitor.errors import ConfigError

BAD = Path(__file__).parent / "bad"

MESSAGES: dict[str, list[str]] = {
    "bare-number-duration.yaml": ['3: assembly.idle: a duration is written with its unit: "500ms", "30s"'],
    "boolean-as-text.yaml": ["4: ingest.otlp_http.insecure: must be a valid boolean, not 'yes'"],
    "dead-letters-are-read.yaml": ["5: ingest.kafka.dead_letters.topic: topic 'otlp_spans' is read as well"],
    "decimal-size.yaml": ['3: ingest.otlp_http.max_body: a size is written with its unit: "512KiB"'],
    "duplicate-key.yaml": ["4: store.url: key is written twice (first in line 3); keep one"],
    "empty-where.yaml": ["3: recognise.where.deployment.name: must be a text, number or boolean, or a list"],
    "journal-too-small.yaml": [
        "6: ingest.otlp_journal.max_bytes: 7MiB may not take a single request; it must be at least otlp_http.max_body"
    ],
    "kafka-without-brokers.yaml": ["3: ingest.kafka.bootstrap_servers: required, but missing; add it"],
    "list-at-the-root.yaml": ["1: the configuration must be a mapping of sections"],
    "listener-open-to-the-network.yaml": [
        "3: ingest.otlp_http.listen: 0.0.0.0:4318 can be reached from other machines",
        "5: metrics.listen: [::]:21464 can be reached from other machines",
    ],
    "many-faults.yaml": [
        "2: golden.path: unknown key; did you mean 'paths'?",
        "4: scoring.threshold: must be less than or equal to 1, not 1.5",
        "5: recognize: unknown key; did you mean 'recognise'?",
        "8: log.level: must be 'debug', 'info', 'warning' or 'error', not 'loud'",
    ],
    "redaction-faults.yaml": [
        "3: store.conversations.max_bytes: a size is written with its unit",
        "6: store.redact.patterns.twice: is no pattern that RE2 can use: invalid escape sequence: \\1",
    ],
    "redaction-of-everything.yaml": [
        "4: store.redact.patterns.digits: matches the empty text, and so everywhere",
    ],
    "mapping-faults.yaml": [
        "3: conventions.mappings[0].name: ",
        "4: conventions.mappings[0].detect.attributes.app.kind: must be a text, number or boolean",
        "5: conventions.mappings[0].kind.values.llm: must be 'runner', 'agent', 'model', 'tool', 'step' or 'other'",
        "7: conventions.mappings[0].fields.user: 'event:answer' names no place on a span",
        "8: conventions.mappings[0].fields.response: 'span:status' is not known",
        "9: conventions.mappings[0].fields.question: unknown key",
    ],
    "mapping-kind-without-attribute.yaml": ["6: conventions.mappings[0].kind.values: needs `by`, the attribute"],
    "mapping-named-twice.yaml": ["5: conventions.mappings[1].name: 'shop' is used twice; rename one"],
    "mapping-without-detection.yaml": ["4: conventions.mappings[0].detect: give scope or attributes"],
    "no-such-port.yaml": ["2: admin.listen: port 70000 is over 65535"],
    "number-as-text.yaml": ["3: ingest.queue.batches: must be a valid integer, not '256'"],
    "otlp-sink-authorized-twice.yaml": ["5: sinks.otlp.headers.authorization: is given here and by authorization_file"],
    "otlp-sink-header-of-two-lines.yaml": ["5: sinks.otlp.headers.X-Token: must be printable ASCII on one line"],
    "otlp-sink-headers.yaml": [
        "5: sinks.otlp.headers.Content-Type: cannot be set; give the name of another HTTP header"
    ],
    "otlp-sink-to-traces.yaml": [
        "3: sinks.otlp.endpoint: is not for log records; most receivers have them at /v1/logs"
    ],
    "otlp-sink-without-a-url.yaml": ["3: sinks.otlp.endpoint: must be a whole URL without credentials: http://"],
    "port-taken-twice.yaml": ["4: admin.listen: 127.0.0.1:4318 is already taken by ingest.otlp_http.listen"],
    "rekey-mixes-signals.yaml": ["4: rekey.topics[1].to: topic 'by-conversation' is given traces and logs; write them"],
    "rekey-reads-what-it-writes.yaml": ["3: rekey.topics[0].to: topic 'by-conversation' is read as well"],
    "rekey-topic-listed-twice.yaml": ["4: rekey.topics[1].name: topic 'spans' is listed twice; keep one"],
    "rekey-waits-too-short.yaml": ["3: rekey.wait_without_id: must not be shorter than wait"],
    "sasl-without-mechanism.yaml": ["5: ingest.kafka.client.security_protocol: SASL_SSL needs sasl_mechanism"],
    "secret-in-file-and-inline.yaml": [
        "7: ingest.kafka.client.sasl_plain_password: is given here and by sasl_plain_password_file"
    ],
    "section-is-a-text.yaml": ["1: store: must be a mapping of keys to values, not 'sqlite:///x.db'"],
    "strange-database.yaml": ["2: store.url: must be an SQLAlchemy URL of SQLite or PostgreSQL"],
    "topic-listed-twice.yaml": ["6: ingest.kafka.topics[1].name: topic 'otlp_spans' is listed twice; keep one"],
    "trace-link-that-runs-code.yaml": ["2: web.trace_link: must be a URL that begins with http:// or https://"],
    "unclosed.yaml": ["2: not valid YAML"],
    "unknown-key.yaml": ["4: ingest.kafka.client.sasl_pasword: unknown key"],
    "verdicts-where-spans-are-read.yaml": ["7: sinks.kafka.topic: topic 'otlp_spans' is one of ingest.kafka"],
    "kafka-of-nothing.yaml": [
        "3: ingest.kafka.bootstrap_servers: must not be empty",
        "4: ingest.kafka.group_id: must not be empty",
        "5: ingest.kafka.topics: must not be empty",
    ],
    "kafka-names.yaml": [
        "3: ingest.kafka.bootstrap_servers[0]: 'localhost:99999' is no broker; one is written \"host:port\"",
        "3: ingest.kafka.bootstrap_servers[1]: 'http://broker:9092' is no broker",
        "3: ingest.kafka.bootstrap_servers[2]: 'broker' is no broker",
        "5: ingest.kafka.topics[0].name: 'a b/c' is no name of a topic",
        "7: ingest.kafka.dead_letters.topic: '..' is no name of a topic",
    ],
    "sasl-without-password.yaml": [
        "6: ingest.kafka.client.sasl_mechanism: PLAIN needs sasl_plain_username and sasl_plain_password_file; give both"
    ],
    "rekey-in-the-monitors-group.yaml": ["5: rekey.group_id: 'aem-monitor' is the monitor's own"],
    "rekey-to-the-dead-letters.yaml": ["8: rekey.topics[0].to: topic 'dead' is ingest.kafka.dead_letters.topic"],
    "verdicts-among-the-dead-letters.yaml": [
        "8: sinks.kafka.topic: topic 'dead' is ingest.kafka.dead_letters.topic; verdicts need a topic of their own"
    ],
    "store-forgets-too-soon.yaml": ["2: store.retention: 1h is shorter than ingest.otlp_journal.max_age, 1d"],
    "zero-idle.yaml": ["2: assembly.idle: must be greater than 0"],
}


def load(tmp_path: Path, text: str, **environ: str) -> Config:
    path = tmp_path / "aem-monitor.yaml"
    path.write_text(text)
    return load_config(path, environ)


def test_every_bad_file_has_its_message_and_every_message_its_file() -> None:
    assert {path.name for path in BAD.iterdir()} == set(MESSAGES)


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_a_bad_file_is_refused_with_line_key_and_advice(name: str) -> None:
    path = BAD / name
    with pytest.raises(ConfigError) as caught:
        load_config(path, {})
    lines = str(caught.value).splitlines()
    assert len(lines) == len(MESSAGES[name]), lines
    for line, expected in zip(lines, MESSAGES[name], strict=True):
        assert line.startswith(f"{path}:{expected}")


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "") == load(tmp_path, "# nothing\n") == load_config(None, {}) == Config()


def test_a_section_whose_keys_are_all_commented_out_means_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "store:\n  # url: x\ningest:\n  kafka:\n  otlp_http:\n") == Config()


def test_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "aem-monitor.json"
    path.write_text('{"log": {"level": "debug"},\n "admin": {"listen": "::1"}}')
    with pytest.raises(ConfigError, match=r"aem-monitor\.json:2: admin\.listen: an address is written"):
        load_config(path, {})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file or directory"):
        load_config(tmp_path / "none.yaml", {})


def test_relative_paths_count_from_the_folder_of_the_file(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        "golden: {paths: [golden, /srv/golden]}\n"
        "ingest: {kafka: {bootstrap_servers: ['b:9092'], client: {security_protocol: SSL, ssl_cafile: tls/ca.pem}}}\n",
    )
    assert config.golden.paths == (tmp_path / "golden", Path("/srv/golden"))
    assert config.ingest.kafka is not None
    assert config.ingest.kafka.client.ssl_cafile == tmp_path / "tls/ca.pem"


def test_so_do_those_of_the_sinks(tmp_path: Path) -> None:
    sinks = load(
        tmp_path,
        "sinks:\n"
        "  json_lines: {path: verdicts.jsonl}\n"
        "  kafka: {bootstrap_servers: ['b:9092'], topic: t, client: {security_protocol: SSL, ssl_cafile: ca.pem}}\n"
        "  otlp: {endpoint: 'https://c/v1/logs', authorization_file: token, cafile: /etc/ca.pem}\n",
    ).sinks
    assert sinks.json_lines is not None
    assert sinks.kafka is not None
    assert sinks.otlp is not None
    assert sinks.json_lines.path == tmp_path / "verdicts.jsonl"
    assert sinks.kafka.client.ssl_cafile == tmp_path / "ca.pem"
    assert (sinks.otlp.authorization_file, sinks.otlp.cafile) == (tmp_path / "token", Path("/etc/ca.pem"))
    assert sinks.names == ("json_lines", "kafka", "otlp")


@pytest.mark.parametrize(
    ("endpoint", "taken"),
    [
        ("http://collector:4318/v1/logs", True),
        ("https://[::1]/otlp/v1/logs?tenant=a", True),
        ("http://collector:99999/v1/logs", False),
        ("http://collector:0/v1/logs", False),
        ("http://[::1/v1/logs", False),
        ("http:///v1/logs", False),
        ("https://user:secret@collector/v1/logs", False),
        ("ftp://collector/v1/logs", False),
        ("http://collector/v1 logs", False),
    ],
)
def test_the_receiver_of_events_is_a_whole_url(tmp_path: Path, endpoint: str, taken: bool) -> None:
    text = json.dumps({"sinks": {"otlp": {"endpoint": endpoint}}})
    if taken:
        assert load(tmp_path, text).sinks.names == ("otlp",)
        return
    with pytest.raises(ConfigError, match=r"sinks\.otlp\.endpoint: must be a whole URL"):
        load(tmp_path, text)


def test_a_listener_open_to_the_network_needs_insecure(tmp_path: Path) -> None:
    config = load(tmp_path, 'metrics: {listen: "0.0.0.0:21464", insecure: true}\n')
    assert config.metrics.listen == Address("0.0.0.0", 21464)


def test_listeners_may_share_a_port_on_different_addresses_or_when_one_is_off(tmp_path: Path) -> None:
    load(tmp_path, 'metrics: {listen: "127.0.0.1:9000"}\nadmin: {listen: "127.0.0.2:9000"}\n')
    load(tmp_path, 'ingest: {otlp_http: {enabled: false}}\nadmin: {listen: "127.0.0.1:4318"}\n')
    load(tmp_path, 'metrics: {listen: "127.0.0.1:0"}\nadmin: {listen: "127.0.0.1:0"}\n')


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("null", None),
        ("any", "any"),
        ("{deployment.name: canary}", {"deployment.name": ("canary",)}),
        (
            "{deployment.name: [canary, shadow], synthetic: true}",
            {"deployment.name": ("canary", "shadow"), "synthetic": (True,)},
        ),
    ],
)
def test_the_condition_of_recognition_has_one_form_when_read(tmp_path: Path, written: str, read: object) -> None:
    assert load(tmp_path, f"recognise:\n  where: {written}\n").recognise.where == read


def test_the_daemon_needs_golden_dialogs_and_says_where_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"aem\.yaml: golden\.paths: no golden dialogs are named; list their files"):
        require_golden(Config(), Path("aem.yaml"))
    require_golden(load(tmp_path, "golden: {paths: [golden]}"), None)


ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ANY_PATH = st.sampled_from([path for path, _ in variables(Config).values()])


@given(ANY_PATH, ANY_VALUE, st.integers(1, 4))
def test_whatever_stands_at_a_key_is_taken_or_refused_with_its_place(
    path: tuple[str, ...], value: object, length: int
) -> None:
    for key in reversed(path[:length]):
        value = {key: value}
    with NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(value, file)
        file.flush()
        try:
            load_config(Path(file.name), {})
        except ConfigError as error:
            faults = str(error).splitlines()
        else:
            faults = []
        assert all(fault.startswith(f"{file.name}:1: ") for fault in faults), faults


def test_the_configuration_cannot_be_changed() -> None:
    config = Config()
    with pytest.raises(ValueError, match="frozen"):
        config.log = config.log  # type: ignore[misc]
