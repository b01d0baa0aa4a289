"""The templates for Argo Rollouts: valid, and nothing but a pass lets a release go on."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import psycopg
import pytest
from sqlalchemy.engine import make_url
from starlette.testclient import TestClient

from aem_monitor import __version__
from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config
from aem_monitor.store import Store
from aem_monitor.web.admin_app import ReloadResult, admin_app
from tests.deploy.files import documents, pods, resources
from tests.deploy.rollouts import ROLLOUTS, command_that, environment, faults, record, shellcheck, stored
from tests.deploy.test_kubernetes import VERSIONS
from tests.services.postgresql import PostgresqlServer

ARGO: Final = ROLLOUTS / "argo"
HERE: Final = Path(__file__).parent / "argo"
PHASES: Final = json.loads((HERE / "phases.json").read_text())
MEASURED: Final = PHASES["web"]["measurements"]

WEB, *_ = documents(ARGO / "analysis-web.yaml")
JOB, JOB_CONFIG = documents(ARGO / "analysis-job.yaml")
ROLLOUT, *SERVICES = documents(ARGO / "rollout.yaml")
EXPOSED: Final = {document["kind"]: document for document in documents(ARGO / "expose-api.yaml")}


def metric(template: Mapping[str, Any]) -> dict[str, Any]:
    (found,) = template["spec"]["metrics"]
    return dict(found)


def job() -> dict[str, Any]:
    return dict(metric(JOB)["provider"]["job"]["spec"])


def container() -> dict[str, Any]:
    (found,) = job()["template"]["spec"]["containers"]
    return dict(found)


@pytest.mark.parametrize(
    ("document", "name"), [(WEB, "analysis-template"), (JOB, "analysis-template"), (ROLLOUT, "rollout")]
)
def test_what_argo_defines_is_valid(document: dict[str, Any], name: str) -> None:
    assert document["apiVersion"] == "argoproj.io/v1alpha1"
    assert faults(document, HERE / f"{name}.schema.json.gz") == []


def test_a_field_that_does_not_exist_would_be_found() -> None:
    changed = {**metric(WEB), "consecutiveSuccesLimit": 1}
    (said,) = faults({**WEB, "spec": {**WEB["spec"], "metrics": [changed]}}, HERE / "analysis-template.schema.json.gz")
    assert "consecutiveSuccesLimit" in said


@pytest.mark.parametrize("version", VERSIONS)
def test_what_kubernetes_defines_is_valid(version: str) -> None:
    whole = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "canary"}, "spec": job()}
    for document in (whole, JOB_CONFIG, *SERVICES, *EXPOSED.values()):
        kubernetes_validate.validate(document, version, strict=True)


def test_the_table_of_phases_was_made_with_these_templates() -> None:
    """By tests/deploy/argo/phases_test.go, to be run again when this fails."""
    assert PHASES["web"]["spec"] == WEB["spec"]
    provider = metric(JOB)["provider"]["job"]
    spec = {key: value for key, value in provider["spec"].items() if key != "template"}
    changed = {**metric(JOB), "provider": {"job": {**provider, "spec": spec}}}
    assert PHASES["job"]["spec"] == {**JOB["spec"], "metrics": [changed]}


# --- by GET /api/v1/canary


def asked(store: Store, baseline: str = "1.0", candidate: str = "1.1", more: str = "") -> tuple[int, Any]:
    """What the monitor answers to the URL of the template."""
    url = metric(WEB)["provider"]["web"]["url"]
    for name, value in (("baseline", baseline), ("candidate", candidate)):
        url = url.replace(f"{{{{args.{name}}}}}", value)
    host, _, path = url.removeprefix("http://").partition("/")
    assert "{{" not in url
    assert host == f"{EXPOSED['Service']['metadata']['name']}.aem-monitor.svc:{Config().admin.listen.port}"
    app = admin_app(store, lambda: ReloadResult(True, "loaded"))
    with TestClient(app, raise_server_exceptions=False) as http:
        answer = http.get(f"/{path}{more}")
    return answer.status_code, answer.json()


def phase_of(status: int, answer: Mapping[str, Any]) -> str:
    """What Argo makes of an answer, by the table: it looks at the status and at what its JSONPath finds."""
    assert metric(WEB)["provider"]["web"]["jsonPath"] == "{$.state}"
    (phase,) = {
        measured["phase"]
        for measured in MEASURED.values()
        if measured["answer"]["type"] == "application/json" and measured["answer"]["status"] == status
        if json.loads(measured["answer"]["body"]).get("state") == answer.get("state")
    }
    return str(phase)


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        ("pass", "Successful"),
        ("regression", "Failed"),
        ("not_enough_evidence", "Inconclusive"),
        ("no runs of the candidate", "Inconclusive"),
        ("no runs at all", "Inconclusive"),
    ],
)
def test_only_a_pass_is_a_success_and_only_a_regression_a_failure(state: str, phase: str, tmp_path: Path) -> None:
    stored(tmp_path, state)
    with Store(f"sqlite:///{tmp_path / 'store.db'}", replica="a") as store:
        assert phase_of(*asked(store)) == phase


def test_what_is_no_answer_is_an_error_which_is_asked_again(tmp_path: Path) -> None:
    stored(tmp_path, "pass")
    store = Store(f"sqlite:///{tmp_path / 'store.db'}", replica="a")
    with store:
        assert phase_of(*asked(store, baseline="1.1")) == "Error"
        status, answer = asked(store, more="&agent=nobody")
        assert (phase_of(status, answer), answer["candidate"]["runs"]) == ("Inconclusive", 0)
    (tmp_path / "store.db").unlink()
    assert asked(store)[0] == 503
    assert phase_of(*asked(store)) == "Error"


def test_a_login_page_in_place_of_an_answer_is_what_argo_passes_by_and_the_page_warns_of_that() -> None:
    """Whatever is not JSON is a success to it, before any condition. A header asks for JSON."""
    passed = {name for name, measured in MEASURED.items() if measured["phase"] == "Successful"}
    assert passed == {"pass", "login page", "plain text"}
    assert {"key": "Accept", "value": "application/json"} in metric(WEB)["provider"]["web"]["headers"]
    assert "login page" in (ROLLOUTS.parent / "docs" / "rollouts.md").read_text()


def runs(key: str = "runs") -> dict[str, tuple[str, int]]:
    """How analyses end that are given answers one after the other, and after how many looks."""
    return {
        ", ".join(f"{look['times']} {look['answer']}" for look in one["looks"]): (one["phase"], one["measurements"])
        for one in PHASES["web"][key]
    }


def test_an_analysis_ends_with_the_first_verdict_or_is_inconclusive_at_its_deadline() -> None:
    assert runs() == {
        "1 pass": ("Successful", 1),
        "1 regression": ("Failed", 1),
        "29 not_enough_evidence, 1 pass": ("Successful", 30),
        "29 not_enough_evidence, 1 regression": ("Failed", 30),
        "29 not_enough_evidence": ("Running", 29),
        "30 not_enough_evidence": ("Inconclusive", 30),
        "100 store down, 30 not_enough_evidence": ("Inconclusive", 130),
        # A monitor that is away decides nothing, however long.
        "1000 no connection": ("Running", 1000),
        "1000 no connection, 1 pass": ("Successful", 1001),
        "1000 no connection, 1 regression": ("Failed", 1001),
        "1000 wrong address": ("Running", 1000),
        "1000 unauthorized": ("Running", 1000),
    }


def test_where_the_newest_field_is_not_known_nothing_passes_without_a_pass() -> None:
    assert runs("runs_before_1.8") == {
        "30 not_enough_evidence": ("Inconclusive", 30),
        "29 not_enough_evidence, 1 pass": ("Successful", 30),
    }
    assert metric(WEB)["inconclusiveLimit"] == metric(WEB)["count"] - 1


def test_the_api_is_reached_by_the_controller_only(tmp_path: Path) -> None:
    comment = (ARGO / "expose-api.yaml").read_text()
    (line,) = re.findall(r"^# +(admin: .*)$", comment, re.MULTILINE)
    config = tmp_path / "c.yaml"
    config.write_text(f"{line}\n", encoding="utf-8")
    listen = load_config(config, {}).admin.listen
    (port,) = EXPOSED["Service"]["spec"]["ports"]
    policy = EXPOSED["NetworkPolicy"]["spec"]
    assert listen.port == port["port"] == port["targetPort"]
    assert policy["ingress"] == [
        {"from": policy["ingress"][0]["from"], "ports": [{"protocol": "TCP", "port": listen.port}]}
    ]
    (source,) = policy["ingress"][0]["from"]
    assert set(source) == {"namespaceSelector", "podSelector"}, "both at once, not either"
    for pod in (pod for pod in pods() if pod.command == "run"):
        labels = pod.template["metadata"]["labels"]
        assert EXPOSED["Service"]["spec"]["selector"].items() <= labels.items()
        assert policy["podSelector"]["matchLabels"].items() <= labels.items()


# --- by canary watch in a Job


def test_a_job_fails_the_analysis_by_a_regression_only() -> None:
    assert PHASES["job"]["runs"] == {
        "complete": "Successful",
        "failed": "Failed",
        "running": "Running",
        "cannot be created": "Running",
        "image cannot be had": "Inconclusive",
    }
    (rule,) = job()["podFailurePolicy"]["rules"]
    assert rule == {
        "action": "FailJob",
        "onExitCodes": {"containerName": container()["name"], "operator": "In", "values": [11]},
    }
    assert job()["template"]["spec"]["restartPolicy"] == "Never"
    # 1,000 pods that end otherwise, up to six minutes apart.
    assert job()["backoffLimit"] == 1000
    assert "activeDeadlineSeconds" not in job()


def script(config: Path) -> str:
    """The script of the Job, with its configuration elsewhere, and in a hurry."""
    text = str(container()["args"][0])
    for old, new in (
        ("/etc/aem-monitor/aem-monitor.yaml", str(config)),
        ("--deadline 10m", "--deadline 100ms"),
        ("sleep 10", "sleep 0.1"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def watched(
    config: Path, tmp_path: Path, path: Path | None = None, candidate: str = "1.1"
) -> tuple[int | None, str, str]:
    """Exit code of the script, None when it goes on watching, and what it said by then."""
    said, wrong = tmp_path / "stdout", tmp_path / "stderr"
    environ = environment(path, BASELINE="1.0", CANDIDATE=candidate)
    with said.open("wb") as out, wrong.open("wb") as err:
        process = subprocess.Popen(
            [*container()["command"], script(config)], env=environ, cwd=tmp_path, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
        end = time.monotonic() + 120
        while process.poll() is None and wrong.read_text().count("No verdict") < 2 and time.monotonic() < end:
            time.sleep(0.05)
        code = process.poll()
        if code is None:
            # The shell and what it started.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return code, said.read_text(), wrong.read_text()


@pytest.mark.parametrize(
    ("state", "code", "first"),
    [
        ("pass", 0, "### Canary: pass"),
        ("regression", 11, "### Canary: regression"),
        ("not_enough_evidence", None, "### Canary: not enough evidence"),
    ],
)
def test_the_job_ends_on_a_verdict_only(state: str, code: int | None, first: str, tmp_path: Path) -> None:
    ended, said, wrong = watched(stored(tmp_path, state), tmp_path)
    assert (ended, said.startswith(first)) == (code, True)
    assert ("No verdict (exit code 3)" in wrong) == (code is None)


def test_a_store_that_is_not_there_is_no_verdict(tmp_path: Path) -> None:
    config = stored(tmp_path, "regression")
    (tmp_path / "store.db").unlink()
    code, said, wrong = watched(config, tmp_path)
    assert (code, said.strip()) == (None, "")
    assert "No verdict (exit code 2)" in wrong
    assert "there is no store" in wrong


@pytest.mark.parametrize("code", [0, 1, 137])
def test_a_command_that_says_nothing_is_no_verdict_whatever_its_exit_code_is(code: int, tmp_path: Path) -> None:
    ended, _, wrong = watched(tmp_path / "c.yaml", tmp_path, command_that(tmp_path, f"exit {code}"))
    assert ended is None
    assert f"No verdict (exit code {code})" in wrong


def test_names_of_releases_are_no_code(tmp_path: Path) -> None:
    prints = command_that(tmp_path, """printf '### Canary: pass\\n%s\\n' "$*" """)
    _, said, _ = watched(tmp_path / "c.yaml", tmp_path, prints, candidate='$(touch "made") `touch made`; "')
    assert '--candidate $(touch "made") `touch made`; "' in said
    assert not (tmp_path / "made").exists()
    assert container()["env"][:2] == [
        {"name": "BASELINE", "value": "{{args.baseline}}"},
        {"name": "CANDIDATE", "value": "{{args.candidate}}"},
    ]
    assert "{{" not in container()["args"][0]


def test_the_linter_of_shells_has_nothing_to_say(tmp_path: Path) -> None:
    assert shellcheck(container()["args"][0], "sh", tmp_path) == ""


def test_the_job_is_this_version_and_can_do_nothing_that_it_need_not() -> None:
    spec = job()["template"]["spec"]
    (pod,) = (pod for pod in pods() if pod.folder == "replicated" and pod.command == "run")
    assert container()["image"] == f"registry.example/aem-monitor:{__version__}"
    assert container()["securityContext"] == pod.container["securityContext"]
    assert spec["securityContext"] == pod.spec["securityContext"]
    assert spec["automountServiceAccountToken"] is False
    assert sorted(mount["name"] for mount in container()["volumeMounts"]) == sorted(
        volume["name"] for volume in spec["volumes"]
    )


def test_the_job_reads_the_store_of_several_replicas(tmp_path: Path) -> None:
    (pod,) = (pod for pod in pods() if pod.folder == "replicated" and pod.command == "run")
    folder = tmp_path / "replicated"
    folder.mkdir()
    path = tmp_path / "c.yaml"
    path.write_text(JOB_CONFIG["data"]["aem-monitor.yaml"], encoding="utf-8")
    theirs = make_url(re.sub(r"sslrootcert=.*/etc", "sslrootcert=/etc", pod.config(folder).store.url))
    postgresql = next(one["secret"] for one in job()["template"]["spec"]["volumes"] if one["name"] == "postgresql")
    (mount,) = (one["mountPath"] for one in container()["volumeMounts"] if one["name"] == "postgresql")
    password = container()["env"][2]["valueFrom"]["secretKeyRef"]
    ours = make_url(load_config(path, {}).store.url)
    there = str(theirs.query["sslrootcert"])
    assert ours == theirs.set(username="canary_reader").update_query_dict({"sslrootcert": there})
    assert there == f"{mount}/{postgresql['items'][0]['path']}"
    assert password == {"name": postgresql["secretName"], "key": "password"}
    assert (
        f"kubectl create secret generic {postgresql['secretName']} --from-file=password --from-file=ca.crt"
        in (ARGO / "analysis-job.yaml").read_text()
    )


@pytest.mark.service
def test_a_role_that_may_only_read_is_enough(postgresql_server: PostgresqlServer, tmp_path: Path) -> None:
    """By the statements of the page."""
    page = (ROLLOUTS.parent / "docs" / "rollouts.md").read_text()
    (statements,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    with postgresql_server.database() as url:
        with Store(url, replica="a") as store:
            record(store, "regression")
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS canary_reader")
            connection.execute(statements)
        try:
            config = tmp_path / "c.yaml"
            reader = make_url(url).set(username="canary_reader", password="change-me")
            theirs = reader.render_as_string(hide_password=False)
            config.write_text(f"store:\n  url: {theirs}\n", encoding="utf-8")
            code, said, _ = watched(config, tmp_path)
            assert (code, said.startswith("### Canary: regression")) == (11, True)
            with (
                psycopg.connect(theirs.replace("+psycopg", "")) as connection,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                connection.execute("DELETE FROM runs")
        finally:
            with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
                connection.execute("DROP OWNED BY canary_reader")
                connection.execute("DROP ROLE canary_reader")


# --- the rollout


def test_the_rollout_asks_by_what_the_agent_calls_its_release() -> None:
    (environ,) = (one["env"] for one in ROLLOUT["spec"]["template"]["spec"]["containers"])
    values = {entry["name"]: entry.get("value") for entry in environ}
    assert environ[0]["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.labels['rollouts-pod-template-hash']"
    assert "service.version=$(RELEASE)" in values["OTEL_RESOURCE_ATTRIBUTES"]
    assert Config().assembly.release[0] == "resource:service.version"
    monitor = resources("single", "Service")[0]
    ports = {port["name"]: port["port"] for port in monitor["spec"]["ports"]}
    expected = f"http://{monitor['metadata']['name']}.aem-monitor.svc:{ports['otlp-http']}/v1/traces"
    assert values["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == expected


def test_the_rollout_waits_for_the_gate_in_a_step_of_its_own_and_gives_what_the_templates_ask_for() -> None:
    strategy = ROLLOUT["spec"]["strategy"]["canary"]
    assert "analysis" not in strategy, "in the background the steps would go on without a verdict"
    (step,) = (step["analysis"] for step in strategy["steps"] if "analysis" in step)
    given = {one["name"]: one["valueFrom"]["podTemplateHashValue"] for one in step["args"]}
    assert given == {"baseline": "Stable", "candidate": "Latest"}
    templates = {document["metadata"]["name"]: document for document in (WEB, JOB)}
    assert step["templates"][0]["templateName"] in templates
    for template in templates.values():
        assert {one["name"] for one in template["spec"]["args"] if "value" not in one} == set(given)
        assert template["metadata"]["name"] in (ARGO / "rollout.yaml").read_text()
    assert [one["metadata"]["name"] for one in SERVICES] == [strategy["stableService"], strategy["canaryService"]]


def test_the_header_can_come_from_a_secret_whose_lack_aborts_as_the_template_says() -> None:
    text = (ARGO / "analysis-web.yaml").read_text()
    (line,) = re.findall(r"^ +# +(valueFrom: .*)$", text, re.MULTILINE)
    path = '      value: ""\n'
    assert text.count(path) == 1
    changed = json.loads(json.dumps(WEB))
    changed["spec"]["args"][2] = {"name": "authorization", "valueFrom": {"secretKeyRef": {"name": "n", "key": "k"}}}
    assert faults(changed, HERE / "analysis-template.schema.json.gz") == []
    assert "secretKeyRef: {name:" in line
    assert PHASES["web"]["run_without_its_secret"] == "Error"
