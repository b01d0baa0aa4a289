"""Fixtures for all tests: the real services, started once a session and only when a test asks for one."""

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from tests.services.alertmanager import amtool as locate_amtool
from tests.services.cache import ServiceUnavailableError
from tests.services.kafka import BOOTSTRAP_VARIABLE, KafkaBroker
from tests.services.postgresql import SERVER_VARIABLE, PostgresqlServer
from tests.services.prometheus import PrometheusServer
from tests.services.prometheus import promtool as locate_promtool

if TYPE_CHECKING:
    from tests.failures.oracle import Quiet
    from tests.failures.workload import Workload

# Shells start background jobs with SIGINT ignored, nohup ignores SIGHUP, and every child would inherit that: tests that
# signal a process would wait for ever. A handler, unlike being ignored, is not inherited.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)

# How long an example takes, or the making of one, says how busy the machine is; no test is about that.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")

StartPrometheus = Callable[[Sequence[Mapping[str, Any]]], PrometheusServer]


def _services_required() -> bool:
    return bool(os.environ.get("CI") or os.environ.get("AEM_REQUIRE_SERVICES"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep ten thousand tests, which stay until the end, from every search of the garbage collector."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a ``service`` test into a failure where services are required.

    A run on CI that silently skipped the broker would be green and prove nothing.
    """
    report = yield
    if report.skipped and _services_required() and item.get_closest_marker("service") is not None:
        report.outcome = "failed"
        report.longrepr = f"skipped although CI or AEM_REQUIRE_SERVICES is set: {call.excinfo}"
    return report


@pytest.fixture(scope="session")
def kafka_broker() -> Iterator[KafkaBroker]:
    """A running Apache Kafka for all tests: the one named by ``AEM_TEST_KAFKA_BOOTSTRAP``, else one of our own."""
    try:
        broker = KafkaBroker(external=os.environ.get(BOOTSTRAP_VARIABLE) or None)
        broker.start()
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    yield broker
    broker.close()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    """A running PostgreSQL for all tests: the one named by ``AEM_TEST_POSTGRESQL``, else one of our own."""
    try:
        server = PostgresqlServer(external=os.environ.get(SERVER_VARIABLE) or None)
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    yield server
    server.close()


@pytest.fixture
def own_kafka_broker() -> Iterator[KafkaBroker]:
    """A broker of this test alone, not started yet, that it may stop, kill and start again."""
    try:
        broker = KafkaBroker()
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    yield broker
    broker.close()


@pytest.fixture
def start_prometheus() -> Iterator[StartPrometheus]:
    """Starts Prometheus servers with the given scrape configurations; they end with the test."""
    started: list[PrometheusServer] = []

    def start(scrape_configs: Sequence[Mapping[str, Any]]) -> PrometheusServer:
        try:
            server = PrometheusServer(scrape_configs)
        except ServiceUnavailableError as error:
            pytest.skip(str(error))
        started.append(server)
        return server

    yield start
    for server in started:
        server.close()


@pytest.fixture(scope="session")
def amtool() -> Path:
    """Path of Alertmanager's ``amtool``."""
    try:
        return locate_amtool()
    except ServiceUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def promtool() -> Path:
    """Path of Prometheus' ``promtool``."""
    try:
        return locate_promtool()
    except ServiceUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def plays() -> "Workload":
    """Many interleaved conversations, for daemons that are disturbed."""
    from tests.failures.workload import workload

    return workload(seed=1)


@pytest.fixture(scope="session")
def undisturbed(kafka_broker: KafkaBroker, plays: "Workload", tmp_path_factory: pytest.TempPathFactory) -> "Quiet":
    """What a daemon says of ``plays`` that reads them in peace."""
    from tests.failures.kills import quiet
    from tests.failures.oracle import totals_of

    found = quiet(kafka_broker, tmp_path_factory.mktemp("quiet"), plays)
    assert len(found[0].runs) == plays.runs
    of_runs = {key: value for key, value in found[0].totals.items() if key[0][0] != "aem_exchange_latency_seconds"}
    assert of_runs == totals_of(found[0].runs.values())
    return found
