"""The CronJob that plays golden dialogs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest

from aem_monitor import __version__
from aem_monitor.cli import canary
from aem_monitor.player.plan import Plan, read_plan
from tests.deploy.files import documents, pods, resources
from tests.deploy.rollouts import ROLLOUTS
from tests.deploy.test_kubernetes import VERSIONS

CRON, CONFIG = documents(ROLLOUTS / "kubernetes" / "canary-run.yaml")
JOB: Final = CRON["spec"]["jobTemplate"]["spec"]
POD: Final = JOB["template"]["spec"]
SERVICES: Final = {
    document["metadata"]["name"]: document["spec"]["ports"][0]["port"]
    for document in documents(ROLLOUTS / "argo" / "rollout.yaml")
    if document["kind"] == "Service"
}


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    path = tmp_path / "canary-run.yaml"
    path.write_text(CONFIG["data"]["canary-run.yaml"], encoding="utf-8")
    return read_plan(path, {}, {})


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_valid(version: str) -> None:
    for document in (CRON, CONFIG):
        kubernetes_validate.validate(document, version, strict=True)


def test_both_releases_are_played_at_the_same_time_by_arguments_that_there_are(plan: Plan) -> None:
    parser = ArgumentParser()
    canary.configure(parser)
    played = {}
    for container in POD["containers"]:
        command, *words = container["args"]
        arguments = parser.parse_args(words)
        assert command == "canary"
        assert str(arguments.file) == "/etc/canary-run/canary-run.yaml"
        played[container["name"]] = arguments.url or plan.agent.url
        assert container["image"] == f"registry.example/aem-monitor:{__version__}"
    assert {url.removeprefix("http://").partition("/")[0] for url in played.values()} == {
        f"{name}:{port}" for name, port in SERVICES.items()
    }
    assert played["stable"].replace("stable", "canary") == played["canary"]


def test_spans_go_to_the_monitor_which_takes_them_from_this_namespace(plan: Plan) -> None:
    (service,) = resources("single", "Service")
    ports = {port["name"]: port["port"] for port in service["spec"]["ports"]}
    name = f"{service['metadata']['name']}.aem-monitor.svc"
    assert plan.otlp.url == f"http://{name}:{ports['otlp-http']}/v1/traces"


def test_nothing_is_done_twice() -> None:
    assert (JOB["backoffLimit"], POD["restartPolicy"]) == (0, "Never")
    assert CRON["spec"]["concurrencyPolicy"] == "Forbid"


def test_a_round_ends_by_itself_before_it_is_ended(plan: Plan) -> None:
    assert JOB["activeDeadlineSeconds"] > plan.play.deadline + plan.agent.client.timeout
    assert POD["terminationGracePeriodSeconds"] > plan.agent.client.timeout


def test_it_can_do_nothing_that_it_need_not() -> None:
    (pod,) = (pod for pod in pods() if pod.folder == "single")
    assert POD["automountServiceAccountToken"] is False
    assert {**POD["securityContext"], "fsGroupChangePolicy": "OnRootMismatch"} == pod.spec["securityContext"]
    for container in POD["containers"]:
        assert container["securityContext"] == pod.container["securityContext"]
        mounts: list[dict[str, Any]] = container["volumeMounts"]
        assert [mount["name"] for mount in mounts] == [volume["name"] for volume in POD["volumes"]]


def test_what_it_mounts_is_there() -> None:
    names = {volume["configMap"]["name"] for volume in POD["volumes"] if "configMap" in volume}
    golden = {one["metadata"]["name"] for one in resources("single", "ConfigMap")}
    assert names <= {CONFIG["metadata"]["name"], *golden}
