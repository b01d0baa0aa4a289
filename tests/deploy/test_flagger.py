"""The template for Flagger: valid, and its hooks tell a pass and a regression from everything else."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from aem_monitor.config.root import Config
from aem_monitor.store import Store
from aem_monitor.web.admin_app import ReloadResult, admin_app
from aem_monitor.web.listener import HttpListener
from tests.deploy.files import documents
from tests.deploy.rollouts import ROLLOUTS, ended, environment, faults, shellcheck, stored
from tests.deploy.test_kubernetes import VERSIONS

CANARY, ROLE, BINDING = documents(ROLLOUTS / "flagger" / "canary.yaml")
HOOKS: Final[dict[str, Any]] = {hook["type"]: hook for hook in CANARY["spec"]["analysis"]["webhooks"]}
API: Final = next(iter(documents(ROLLOUTS / "argo" / "expose-api.yaml")))

each_hook = pytest.mark.parametrize("hook", sorted(HOOKS))


def test_it_is_valid() -> None:
    assert CANARY["apiVersion"] == "flagger.app/v1beta1"
    schema = Path(__file__).parent / "flagger" / "canary.schema.json.gz"
    assert faults(CANARY, schema) == []
    (said,) = faults({**CANARY, "spec": {**CANARY["spec"], "analyses": {}}}, schema)
    assert "analyses" in said


@pytest.mark.parametrize("version", VERSIONS)
def test_what_kubernetes_defines_is_valid(version: str) -> None:
    for document in (ROLE, BINDING):
        kubernetes_validate.validate(document, version, strict=True)


def test_no_hook_counts_looks_without_a_pass_as_failed_checks() -> None:
    assert set(HOOKS) == {"confirm-promotion", "rollback"}
    assert "metrics" not in CANARY["spec"]["analysis"]
    assert all(hook["metadata"]["type"] == "bash" for hook in HOOKS.values())


@contextmanager
def answering(app: Starlette) -> Iterator[str]:
    listener = HttpListener(app, "127.0.0.1", 0, "admin.listen")
    listener.start()
    try:
        yield f"http://127.0.0.1:{listener.port}"
    finally:
        listener.stop(5)


def signalled(hook: str, address: str, folder: Path, labels: str = "yes") -> bool:
    """Whether the command of a hook succeeds, in a cluster whose deployments have the label of the release, or not."""
    for program in ("curl", "jq"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}, which is in the image of Flagger's load tester")
    (role,) = ROLE["rules"]
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    kubectl = programs / "kubectl"
    primary, target = sorted(role["resourceNames"], reverse=True)
    wanted = r"jsonpath={.spec.template.metadata.labels['app\.kubernetes\.io/version']}"
    kubectl.write_text(
        "#!/usr/bin/env python3\n"
        "import sys\n"
        f"names = {{{primary!r}: '1.0', {target!r}: '1.1'}}\n"
        f"assert sys.argv[1:5] == ['--namespace', 'agents', 'get', 'deployment'], sys.argv\n"
        f"assert sys.argv[6:] == ['--output', {wanted!r}], sys.argv\n"
        f"print(names[sys.argv[5]] if {labels!r} == 'yes' else '', end='')\n",
        encoding="utf-8",
    )
    kubectl.chmod(0o755)
    command = HOOKS[hook]["metadata"]["cmd"]
    inside = f"http://{API['metadata']['name']}.aem-monitor.svc:{Config().admin.listen.port}"
    assert command.count(inside) == 1
    done = ended(["bash", "-c", command.replace(inside, address)], environment(programs), folder)
    return done.returncode == 0


@each_hook
@pytest.mark.parametrize("state", ["pass", "regression", "not_enough_evidence", "no runs of the candidate"])
def test_a_pass_promotes_and_a_regression_rolls_back_and_nothing_else_does_either(
    hook: str, state: str, tmp_path: Path
) -> None:
    stored(tmp_path, state)
    with (
        Store(f"sqlite:///{tmp_path / 'store.db'}", replica="a") as store,
        answering(admin_app(store, lambda: ReloadResult(True, "loaded"))) as address,
    ):
        found = signalled(hook, address, tmp_path)
    assert found == ((hook, state) in {("confirm-promotion", "pass"), ("rollback", "regression")})


@each_hook
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (503, '{"state": "pass"}'),
        (503, '{"state": "regression"}'),
        (200, "<h1>Log in</h1>"),
        (200, ""),
        (200, "{}"),
        (200, '{"state": "pass"'),
        (200, '{"state": "regression"'),
    ],
)
def test_what_is_no_answer_does_neither(hook: str, status: int, said: str, tmp_path: Path) -> None:
    def answer(_: Request) -> Response:
        return PlainTextResponse(said, status_code=status)

    with answering(Starlette(routes=[Route("/api/v1/canary", answer)])) as address:
        assert not signalled(hook, address, tmp_path)


@each_hook
def test_a_monitor_that_is_away_does_neither(hook: str, tmp_path: Path) -> None:
    with answering(Starlette()) as address:
        pass
    assert not signalled(hook, address, tmp_path)


@each_hook
def test_without_the_names_of_the_releases_nothing_is_decided(hook: str, tmp_path: Path) -> None:
    stored(tmp_path, "pass" if hook == "confirm-promotion" else "regression")
    with (
        Store(f"sqlite:///{tmp_path / 'store.db'}", replica="a") as store,
        answering(admin_app(store, lambda: ReloadResult(True, "loaded"))) as address,
    ):
        assert signalled(hook, address, tmp_path)
        assert not signalled(hook, address, tmp_path, labels="no")


@each_hook
def test_the_linter_of_shells_has_nothing_to_say(hook: str, tmp_path: Path) -> None:
    assert shellcheck(HOOKS[hook]["metadata"]["cmd"], "bash", tmp_path) == ""


def test_both_hooks_ask_the_same() -> None:
    promoted, rolled_back = (HOOKS[name]["metadata"]["cmd"] for name in ("confirm-promotion", "rollback"))
    assert promoted.replace('"pass"', '"regression"') == rolled_back


def test_the_load_tester_may_look_up_just_the_two_deployments() -> None:
    target = CANARY["spec"]["targetRef"]["name"]
    assert ROLE["rules"] == [
        {
            "apiGroups": ["apps"],
            "resources": ["deployments"],
            "resourceNames": [target, f"{target}-primary"],
            "verbs": ["get"],
        }
    ]
    assert BINDING["roleRef"]["name"] == ROLE["metadata"]["name"]
    for hook in HOOKS.values():
        assert f"release {target})" in hook["metadata"]["cmd"]
        assert f"release {target}-primary)" in hook["metadata"]["cmd"]
