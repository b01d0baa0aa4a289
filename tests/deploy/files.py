"""The files of deploy/, read, and laid out as the processes in them will find them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
COMPOSE: Final = sorted((DEPLOY / "compose").glob("*/compose.yaml"))
KUBERNETES: Final = sorted((DEPLOY / "kubernetes").glob("*/*.yaml"))

UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: str) -> float:
    """``40s`` and the like, as Compose and systemd write them."""
    return float(text[:-1]) * UNITS[text[-1]]


def documents(path: Path) -> list[Mapping[str, Any]]:
    """All YAML documents of a file."""
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def compose(path: Path) -> Mapping[str, Any]:
    """A Compose file; without ``GOLDEN`` in the environment."""
    (document,) = documents(path)
    return document


def resources(folder: str, kind: str | None = None) -> list[Mapping[str, Any]]:
    """The resources of a folder of manifests, of one kind or of all."""
    found = [document for path in KUBERNETES if path.parent.name == folder for document in documents(path)]
    return [document for document in found if kind in (None, document["kind"])]


@dataclass(frozen=True, slots=True)
class Pod:
    """The one container of a StatefulSet, with what surrounds it."""

    folder: str
    workload: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.workload["metadata"]["name"])

    @property
    def template(self) -> Mapping[str, Any]:
        template: Mapping[str, Any] = self.workload["spec"]["template"]
        return template

    @property
    def spec(self) -> Mapping[str, Any]:
        spec: Mapping[str, Any] = self.template["spec"]
        return spec

    @property
    def container(self) -> Mapping[str, Any]:
        (container,) = self.spec["containers"]
        return dict(container)

    @property
    def command(self) -> str:
        return str(self.container["args"][0])

    def environment(self) -> dict[str, str]:
        """Its variables; those that the cluster fills in, with the name of the first pod or of the secret."""
        return {
            entry["name"]: f"{self.name}-0" if "fieldRef" in entry["valueFrom"] else "from-the-secret"
            for entry in self.container["env"]
        }

    def config(self, tmp_path: Path) -> Config:
        """Its configuration, with every ConfigMap and Secret that it mounts in place, and its environment."""
        data = {
            (resource["kind"], resource["metadata"]["name"]): resource.get("data") or resource["stringData"]
            for resource in resources(self.folder)
            if resource["kind"] in ("ConfigMap", "Secret")
        }
        volumes = {volume["name"]: volume for volume in self.spec["volumes"]}
        mounts = {mount["name"]: mount["mountPath"] for mount in self.container["volumeMounts"]}
        for name, target in mounts.items():
            volume = volumes.get(name, {})
            if "configMap" in volume:
                files = data["ConfigMap", volume["configMap"]["name"]]
            elif "secret" in volume:
                items = volume["secret"].get("items")
                files = data["Secret", volume["secret"]["secretName"]]
                files = {item["path"]: files[item["key"]] for item in items} if items else files
            else:
                continue
            folder = tmp_path / target.lstrip("/")
            folder.mkdir(parents=True)
            for file, text in files.items():
                (folder / file).write_text(_rooted(text, tmp_path, mounts.values()), encoding="utf-8")
        path = self.container["args"][self.container["args"].index("--config") + 1]
        return load_config(tmp_path / path.lstrip("/"), self.environment())


def pods() -> Iterator[Pod]:
    """Every StatefulSet of the manifests."""
    for folder in ("single", "replicated"):
        for workload in resources(folder, "StatefulSet"):
            yield Pod(folder, workload)


def _rooted(text: str, root: Path, targets: Iterable[str]) -> str:
    """``text`` with the mounted folders below ``root``; in one pass, since ``root`` may itself lie in one of them."""
    names = "|".join(map(re.escape, targets))
    return re.sub(rf"(?:{names})(?=[/\]])", lambda match: f"{root}{match[0]}", text)
