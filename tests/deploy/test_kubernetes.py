"""The Kubernetes manifests: valid in every version that is maintained, and in agreement with each other."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from kubernetes_validate.utils import all_versions

from aem_monitor import __version__
from aem_monitor.config.root import Config
from aem_monitor.golden.load import load_dialogs
from tests.deploy.files import KUBERNETES, Pod, documents, pods, resources

OLDEST = (1, 31)
"""The first version with all fields that are used (unhealthyPodEvictionPolicy is stable since then)."""

VERSIONS = sorted({text for text in all_versions() if tuple(map(int, text.split(".")[:2])) >= OLDEST})

PODS = list(pods())
each_pod = pytest.mark.parametrize("pod", PODS, ids=lambda pod: f"{pod.folder}-{pod.command}")
each_folder = pytest.mark.parametrize("folder", ["single", "replicated"])


def ports(pod: Pod) -> dict[str, int]:
    return {port["name"]: port["containerPort"] for port in pod.container["ports"]}


def selects(selector: dict[str, str], pod: Pod) -> bool:
    labels: dict[str, str] = pod.template["metadata"]["labels"]
    return selector.items() <= labels.items()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_is_valid(version: str) -> None:
    for path in KUBERNETES:
        for document in documents(path):
            if document["apiVersion"].startswith("monitoring.coreos.com/"):
                continue
            kubernetes_validate.validate(document, version, strict=True)


def test_a_field_that_does_not_exist_would_be_found() -> None:
    (policy,) = resources("replicated", "PodDisruptionBudget")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**policy, "spec": {**policy["spec"], "maxUnavailible": 1}}, VERSIONS[-1], strict=True
        )


def test_nothing_says_in_which_namespace_it_lives() -> None:
    assert not [path for path in KUBERNETES for document in documents(path) if "namespace" in document["metadata"]]


@each_pod
def test_the_image_is_this_version(pod: Pod) -> None:
    assert pod.container["image"] == f"registry.example/aem-monitor:{__version__}"


@each_pod
def test_the_configuration_is_accepted_with_what_is_mounted(pod: Pod, tmp_path: Path) -> None:
    config = pod.config(tmp_path)
    assert [dialog.name for dialog in load_dialogs(config.golden.paths)] == ["order-status"]
    if pod.command == "run":
        assert config.store.replica == f"{pod.name}-0"
    if config.ingest.kafka is not None:
        static = config.rekey.group_instance_id if pod.command == "rekey" else config.ingest.kafka.group_instance_id
        assert static == f"{pod.name}-0"


@each_pod
def test_paths_of_the_configuration_lie_in_what_is_mounted(pod: Pod) -> None:
    (config,) = (
        resource["data"]["aem-monitor.yaml"]
        for resource in resources(pod.folder, "ConfigMap")
        if "aem-monitor.yaml" in resource["data"]
    )
    targets = [mount["mountPath"] for mount in pod.container["volumeMounts"]]
    used = [
        path
        for path in re.findall(r"(/(?:etc|var)/[\w./-]+)", config)
        if pod.command == "run" or "postgres" not in path
    ]
    assert used
    for path in used:
        assert any(f"{path}/".startswith(f"{target}/") for target in targets), path


@each_pod
def test_it_listens_on_the_ports_that_are_named(pod: Pod, tmp_path: Path) -> None:
    config = pod.config(tmp_path)
    if pod.command == "rekey":
        assert ports(pod) == {"metrics": config.rekey.listen.port}
        return
    listening = {"metrics": config.metrics.listen.port}
    if config.ingest.otlp_http.enabled:
        listening["otlp-http"] = config.ingest.otlp_http.listen.port
    if config.ingest.otlp_grpc.enabled:
        listening["otlp-grpc"] = config.ingest.otlp_grpc.listen.port
    assert ports(pod) == listening
    assert config.metrics.listen.port == Config().metrics.listen.port


@each_pod
def test_probes_ask_what_they_are_for(pod: Pod) -> None:
    container = pod.container
    for probe, path in (
        ("startupProbe", "/-/healthy"),
        ("livenessProbe", "/-/healthy"),
        ("readinessProbe", "/-/ready"),
    ):
        assert container[probe]["httpGet"] == {"path": path, "port": "metrics"}
        assert container[probe]["timeoutSeconds"] <= container[probe]["periodSeconds"]
    alive, ready = container["livenessProbe"], container["readinessProbe"]
    assert (
        alive["periodSeconds"] * alive["failureThreshold"] >= 4 * ready["periodSeconds"] * ready["failureThreshold"]
    ), "it leaves the service long before it is killed"


@each_pod
def test_there_is_time_to_drain(pod: Pod, tmp_path: Path) -> None:
    assert pod.spec["terminationGracePeriodSeconds"] > pod.config(tmp_path).shutdown.grace


@each_pod
def test_it_can_do_nothing_that_it_need_not(pod: Pod) -> None:
    assert pod.spec["automountServiceAccountToken"] is False
    security = pod.spec["securityContext"]
    assert (security["runAsNonRoot"], security["runAsUser"], security["fsGroup"]) == (True, 10001, 10001)
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod.container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert set(pod.container["resources"]["requests"]) == {"cpu", "memory"}
    assert "memory" in pod.container["resources"]["limits"]


@each_pod
def test_every_mount_has_its_volume_and_every_volume_its_mount(pod: Pod) -> None:
    claims = [claim["metadata"]["name"] for claim in pod.workload["spec"].get("volumeClaimTemplates", [])]
    volumes = [volume["name"] for volume in pod.spec["volumes"]] + claims
    assert sorted(volumes) == sorted(mount["name"] for mount in pod.container["volumeMounts"])


@each_pod
def test_secrets_have_the_keys_that_are_asked_for(pod: Pod) -> None:
    secrets = {secret["metadata"]["name"]: secret["stringData"] for secret in resources(pod.folder, "Secret")}
    for entry in pod.container["env"]:
        wanted = entry["valueFrom"].get("secretKeyRef")
        assert wanted is None or wanted["key"] in secrets[wanted["name"]]
    for volume in pod.spec["volumes"]:
        if "secret" in volume:
            keys = {item["key"] for item in volume["secret"].get("items", [])}
            assert keys <= set(secrets[volume["secret"]["secretName"]])
            assert volume["secret"]["defaultMode"] == 0o440


@each_folder
def test_selectors_find_their_pods_and_ports(folder: str) -> None:
    here = [pod for pod in PODS if pod.folder == folder]
    names = {name for pod in here for name in ports(pod)}
    for pod in here:
        assert selects(pod.workload["spec"]["selector"]["matchLabels"], pod)
        assert sum(selects(pod.workload["spec"]["selector"]["matchLabels"], other) for other in here) == 1
    (service,) = resources(folder, "Service")
    assert {pod.workload["spec"]["serviceName"] for pod in here} == {service["metadata"]["name"]}
    assert any(selects(service["spec"]["selector"], pod) for pod in here)
    assert {port["targetPort"] for port in service["spec"]["ports"]} == names
    (policy,) = resources(folder, "NetworkPolicy")
    assert all(selects(policy["spec"]["podSelector"]["matchLabels"], pod) for pod in here)
    allowed = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
    assert allowed == names
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]


def test_one_replica_has_one_volume_that_no_second_pod_can_mount() -> None:
    (workload,) = resources("single", "StatefulSet")
    assert workload["spec"]["replicas"] == 1
    (claim,) = workload["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["accessModes"] == ["ReadWriteOncePod"]


def monitor() -> Pod:
    (pod,) = (pod for pod in PODS if pod.folder == "replicated" and pod.command == "run")
    return pod


def test_several_replicas_share_postgresql_and_read_what_rekey_writes(tmp_path: Path) -> None:
    config = monitor().config(tmp_path)
    assert monitor().workload["spec"]["replicas"] > 1
    assert config.store.url.startswith("postgresql+psycopg://")
    assert not config.ingest.otlp_http.enabled
    assert not config.ingest.otlp_grpc.enabled
    assert config.ingest.kafka is not None
    assert config.ingest.kafka.session_timeout > 1.5 * monitor().spec["terminationGracePeriodSeconds"]
    read = {(topic.name, topic.signal) for topic in config.ingest.kafka.topics}
    assert read == {(topic.to, topic.signal) for topic in config.rekey.topics}


def test_the_network_lets_through_what_the_replicas_call(tmp_path: Path) -> None:
    kafka = monitor().config(tmp_path).ingest.kafka
    assert kafka is not None
    (policy,) = resources("replicated", "NetworkPolicy")
    open_ports = {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}
    assert open_ports == {53, 5432, *(int(server.rsplit(":", 1)[1]) for server in kafka.bootstrap_servers)}


def test_a_drain_takes_one_replica_at_a_time() -> None:
    (budget,) = resources("replicated", "PodDisruptionBudget")
    assert budget["spec"]["maxUnavailable"] == 1
    selected = [
        pod for pod in PODS if selects(budget["spec"]["selector"]["matchLabels"], pod) and pod.folder == "replicated"
    ]
    assert [pod.name for pod in selected] == [monitor().name]


@each_folder
def test_the_service_monitor_finds_the_service(folder: str) -> None:
    """Its definition comes with the operator and is not in the schemas: the names that matter are compared."""
    (found,) = resources("prometheus-operator")
    spec: dict[str, Any] = found["spec"]
    (service,) = resources(folder, "Service")
    assert spec["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert spec["jobLabel"] in service["metadata"]["labels"]
    (endpoint,) = spec["endpoints"]
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
    assert endpoint["path"] == "/metrics"
