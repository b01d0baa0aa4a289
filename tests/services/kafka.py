"""Apache Kafka for the tests: one node, KRaft mode, from its Maven artifacts."""

import atexit
import functools
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    KafkaError,
    NotCoordinatorError,
)

from tests.services.cache import ServiceUnavailableError, cached
from tests.services.process import ServerProcess, free_port

KAFKA_VERSION: Final = "4.1.2"
BOOTSTRAP_VARIABLE: Final = "AEM_TEST_KAFKA_BOOTSTRAP"
"""Environment variable that names a broker to use instead of starting one."""

_POM: Final = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>aem-monitor.tests</groupId>
  <artifactId>kafka-broker</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>{version}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
"""

_PROPERTIES: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=CONTROLLER://127.0.0.1:{controller_port},{listeners}
advertised.listeners={listeners}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
num.network.threads=2
num.io.threads=2
background.threads=2
log.cleaner.dedupe.buffer.size=4194304
log.cleaner.backoff.ms=500
"""


def _download(directory: Path) -> None:
    if shutil.which("mvn") is None:
        raise ServiceUnavailableError("Apache Kafka needs Maven: apt-get install maven (or tests/services/install.py)")
    (directory / "pom.xml").write_text(_POM.format(version=KAFKA_VERSION))
    goal = "org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies"
    done = subprocess.run(
        ["mvn", "-B", "-q", goal, "-DincludeScope=runtime", "-DoutputDirectory=lib"],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode:
        raise ServiceUnavailableError(f"Maven could not fetch Apache Kafka {KAFKA_VERSION}: {done.stdout[-2000:]}")


def kafka_libraries() -> Path:
    """The directory of the broker's jar files, fetched on first use (about 75 MB, then cached).

    Raises ``ServiceUnavailableError`` when Java or Maven is missing or the artifacts cannot be fetched.
    """
    if shutil.which("java") is None:
        raise ServiceUnavailableError(
            "Apache Kafka needs Java 17: apt-get install default-jre-headless (or tests/services/install.py)"
        )
    return cached(f"kafka-{KAFKA_VERSION}", _download) / "lib"


def _java(*arguments: str) -> list[str]:
    return [
        "java",
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Djava.net.preferIPv4Stack=true",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        f"{kafka_libraries()}/*",
        *arguments,
    ]


@functools.cache
def _formatted_storage() -> Path:
    """An empty log directory with the mark of the cluster, made once a process: each broker begins with a copy."""
    folder = Path(tempfile.mkdtemp(prefix="aem-kafka-empty-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    data, properties = folder / "data", folder / "server.properties"
    listeners = f"PLAINTEXT://127.0.0.1:{free_port()}"
    properties.write_text(_PROPERTIES.format(listeners=listeners, controller_port=free_port(), data=data))
    tool = _java("kafka.tools.StorageTool", "format", "-t", "YWVtLW1vbml0b3ItdGVzdA", "-c", str(properties))
    done = subprocess.run(tool, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise ServiceUnavailableError(f"Kafka's storage could not be formatted: {done.stdout}{done.stderr}")
    return data


class KafkaBroker:
    """A broker on a random loopback port that keeps its data and ports over ``stop`` and ``start``.

    With ``external`` bootstrap servers it is somebody else's broker: usable, but not to be stopped. ``listeners`` are
    further ones (``NAME://host:port``), which ``properties`` tell about.
    """

    def __init__(self, external: str | None = None, listeners: Sequence[str] = (), properties: str = "") -> None:
        self.external = external
        self._process: ServerProcess | None = None
        if external is not None:
            self.bootstrap = external
            return
        formatted = _formatted_storage()
        self._folder = Path(tempfile.mkdtemp(prefix="aem-kafka-"))
        shutil.copytree(formatted, self._folder / "data")
        self.bootstrap = f"127.0.0.1:{free_port()}"
        joined = ",".join((f"PLAINTEXT://{self.bootstrap}", *listeners))
        written = _PROPERTIES.format(listeners=joined, controller_port=free_port(), data=self._folder / "data")
        self._properties = self._folder / "server.properties"
        self._properties.write_text(written + properties)

    def start(self, timeout: float = 90.0) -> None:
        """Start it, on the data that it left, and wait until it answers."""
        if self.external is not None or self._process is not None:
            return
        command = _java("kafka.Kafka", str(self._properties))
        self._process = ServerProcess("Apache Kafka", command, self._folder / "broker.log")
        self._process.wait_until(self._answers, timeout)

    def _answers(self) -> bool:
        try:
            admin = KafkaAdminClient(bootstrap_servers=self.bootstrap, bootstrap_timeout_ms=2000)
        except KafkaError:
            return False
        try:
            return bool(admin.describe_cluster()["brokers"])
        except KafkaError:
            return False
        finally:
            admin.close()

    def _own(self) -> ServerProcess:
        if self._process is None:
            raise ServiceUnavailableError(f"the broker at {self.bootstrap} is not ours to stop, or is stopped already")
        return self._process

    def stop(self) -> None:
        """An orderly shutdown (SIGTERM)."""
        self._own().stop()
        self._process = None

    def kill(self) -> None:
        """A crash (SIGKILL)."""
        self._own().kill()
        self._process = None

    def close(self) -> None:
        """Stop it for good and remove its data."""
        if self.external is not None:
            return
        if self._process is not None:
            self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def admin(self) -> KafkaAdminClient:
        """A new admin client; the caller closes it."""
        return KafkaAdminClient(bootstrap_servers=self.bootstrap, bootstrap_timeout_ms=30_000)

    def create_topic(self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until its partitions have a leader."""
        admin = self.admin()
        try:
            options = {"num_partitions": partitions, "replication_factor": 1, "configs": dict(configs or {})}
            admin.create_topics({name: options}, wait_for_metadata=True)
        finally:
            admin.close()

    def produce(
        self, topic: str, *values: bytes, partition: int | None = None, compression: str | None = None
    ) -> list[int]:
        """Write messages and return their offsets once the broker has them."""
        producer = KafkaProducer(bootstrap_servers=self.bootstrap, compression_type=compression)
        try:
            sent = [producer.send(topic, value=value, partition=partition) for value in values]
            producer.flush(30)
            return [future.get(30).offset for future in sent]
        finally:
            producer.close()

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """What the consumer group has committed, by (topic, partition); nothing while a broker that has just been
        started does not know of any group yet."""
        admin = self.admin()
        try:
            offsets = admin.list_group_offsets(group)[group]
        except (CoordinatorNotAvailableError, CoordinatorLoadInProgressError, NotCoordinatorError):
            return {}
        finally:
            admin.close()
        return {(place.topic, place.partition): position.offset for place, position in offsets.items()}

    def end_offset(self, topic: str, partition: int = 0) -> int:
        """The offset that the next message of the partition will get."""
        place = TopicPartition(topic, partition)
        patience = time.monotonic() + 30.0
        # An admin client asks in milliseconds; a consumer first waits a tenth of a second for metadata.
        admin = self.admin()
        try:
            while True:
                try:
                    end: int = admin.list_partition_offsets({place: OffsetSpec.LATEST})[place].offset
                except KafkaError as error:
                    # A broker that has just been started may not lead its partitions yet.
                    if not error.retriable or time.monotonic() > patience:
                        raise
                    time.sleep(0.1)
                else:
                    return end
        finally:
            admin.close()
