"""The command line. Processes are started only to test output, signals, exit codes, ports and the environment."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from odradek.broker.cli import _parser, main
from odradek.broker.commands.serve import cluster_config, topic_specs
from odradek.broker.settings.cluster_config import ClusterConfig, TopicSpec
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.values import BrokerConfig
from tests.broker.process.serve_process import CLEAN, COMMAND, bootstrap_servers, running

ROOT = Path(__file__).parents[2]


def configured(*argv: str, environ: Mapping[str, str] | None = None) -> ClusterConfig:
    return cluster_config(_parser().parse_args(["serve", *argv]), environ or {})


def advertised(cluster: ClusterConfig) -> list[str]:
    return [f"{each.node_id} {each.name} {each.advertised}" for node in cluster.nodes for each in node.listeners]


def compose_environment() -> dict[str, str]:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    return {name: value.strip('"') for name, value in re.findall(r"^ +(KAFKA_\w+): (.*)$", text, re.MULTILINE)}


# Options, environment and files


def test_two_nodes_by_default() -> None:
    cluster = configured()
    assert advertised(cluster) == ["1 PLAINTEXT 127.0.0.1:9092", "2 PLAINTEXT 127.0.0.1:9093"]
    assert cluster.ignored == ()
    assert cluster.cluster_id == "5L6g3nShT-eMCtK--X86sw"
    assert configured(environ={"CLUSTER_ID": "mine"}).cluster_id == "mine"


def test_host_and_port_set_the_listeners() -> None:
    cluster = configured("--nodes", "3", "--port", "19092", "--host", "0.0.0.0")
    assert advertised(cluster) == [f"{n} PLAINTEXT 127.0.0.1:{19091 + n}" for n in (1, 2, 3)]
    assert cluster.nodes[0].listeners[0].host == "0.0.0.0"
    assert [node.listeners[0].port for node in configured("--port", "0").nodes] == [0, 0]


def test_as_version_sets_the_release_and_its_settings() -> None:
    cluster = configured("--as-version", "2.8", "--set", "zookeeper.connect=zk:2181", "--set", "log.message.format.version=0.10.2")
    assert cluster.release is not None and cluster.release.name == "2.8"
    assert cluster.setting_rows.message_formats and cluster.ignored == ("zookeeper.connect",)
    assert configured().release is configured("--as-version", "4.3").release is None
    with pytest.raises(InvalidConfig, match=r"there is no version '5\.0' of Kafka to emulate"):
        configured("--as-version", "5.0")


def test_listener_options_set_the_listeners() -> None:
    cluster = configured("--listener", "IN://kafka:1000", "--listener", "OUT://127.0.0.1:2000", "--set", "advertised.listeners=OUT://me:7")
    assert advertised(cluster) == ["1 IN kafka:1000", "1 OUT me:7", "2 IN kafka:1001", "2 OUT me:8"]


def test_set_precedes_environment_precedes_files(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=1\nlog.retention.ms=1\nmessage.max.bytes=1\nsome.plugin=1\n")
    environ = {"KAFKA_LOG_RETENTION_MS": "2", "KAFKA_MESSAGE_MAX_BYTES": "2", "KAFKA_NUM_IO_THREADS": "2", "KAFKA_OPTS": "-Xmx1g"}
    cluster = configured("--config", str(file), "--set", "message.max.bytes=3", environ=environ)
    config = BrokerConfig(cluster.nodes[0].properties)
    assert [config.integers[name] for name in ("num.partitions", "log.retention.ms", "message.max.bytes")] == [1, 2, 3]
    assert cluster.ignored == ("num.io.threads", "some.plugin")


def test_unknown_settings_of_all_sources_are_ignored_on_request(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partition=3\n")
    given = ("--config", str(file), "--set", "retention.ms=5")
    environ = {"KAFKA_MESSAGE_MAX_BYTE": "7"}
    with pytest.raises(InvalidConfig):
        configured(*given, environ=environ)
    assert configured(*given, "--ignore-unknown-settings", environ=environ).unknown == ("message.max.byte", "num.partition", "retention.ms")


def test_each_config_file_is_a_node(tmp_path: Path) -> None:
    for node in (1, 2):
        text = f"node.id={node}\nlisteners=PLAINTEXT://:{9000 + node}\nadvertised.listeners=PLAINTEXT://kafka{node}:{9000 + node}\n"
        (tmp_path / f"{node}.properties").write_text(text)
    files = [option for node in (1, 2) for option in ("--config", str(tmp_path / f"{node}.properties"))]
    assert advertised(configured(*files)) == ["1 PLAINTEXT kafka1:9001", "2 PLAINTEXT kafka2:9002"]


def test_compose_file_has_two_brokers_with_two_listeners() -> None:
    cluster = configured("--nodes", "2", environ=compose_environment())
    assert advertised(cluster) == [
        "1 INTERNAL odradek:29092", "1 EXTERNAL localhost:9092", "2 INTERNAL odradek:29093", "2 EXTERNAL localhost:9093",
    ]  # fmt: skip
    # The environment takes precedence over --host.
    assert advertised(configured("--host", "0.0.0.0", environ=compose_environment())) == advertised(cluster)[:2]


def test_zookeeper_and_controller_settings_are_accepted() -> None:
    environ = {
        "KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181",
        "KAFKA_ZOOKEEPER_CONNECTION_TIMEOUT_MS": "6000",
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:29093",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENERS": "PLAINTEXT://kafka:9092,CONTROLLER://kafka:29093",
        "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://localhost:9092",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    }
    cluster = configured(environ=environ | {"KAFKA_NODE_ID": "1"})
    assert advertised(cluster) == ["1 PLAINTEXT localhost:9092"]
    assert {"zookeeper.connect", "zookeeper.connection.timeout.ms", "controller.quorum.voters"} <= set(cluster.ignored)


def test_topic_options_are_parsed() -> None:
    options = _parser().parse_args(["serve", "--topic", "a:1", "--topic", "b:2:2"])
    assert topic_specs(options, {}, cluster_config(options, {})) == [TopicSpec("a", 1), TopicSpec("b", 2, 2)]


@pytest.mark.parametrize(("text", "size"), [("4096", 4096), ("3k", 3072), ("512m", 512 << 20), ("2G", 2 << 30), ("1t", 1 << 40)])
def test_max_memory_takes_sizes_with_units(text: str, size: int) -> None:
    assert configured("--max-memory", text).max_memory_bytes == size
    assert configured().max_memory_bytes is None
    assert configured("--data-dir", "data", "--memory-limit", text).memory_limit_bytes == size


def test_user_options_secure_the_default_listener() -> None:
    cluster = configured("--user", "alice:se:cret", "--user", "bob:b", "--acl", "User:alice:allow:read:topic:*")
    assert advertised(cluster) == ["1 SASL_PLAINTEXT 127.0.0.1:9092", "2 SASL_PLAINTEXT 127.0.0.1:9093"]
    assert (dict(cluster.users), cluster.acls) == ({"alice": "se:cret", "bob": "b"}, ("User:alice:allow:read:topic:*",))
    config = BrokerConfig(cluster.nodes[0].properties)
    assert config.lists["sasl.enabled.mechanisms"] == ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
    assert config.texts["authorizer.class.name"]


def test_tls_option_secures_the_default_listener() -> None:
    assert advertised(configured("--tls", "auto", "--nodes", "1", "--port", "1")) == ["1 SSL 127.0.0.1:1"]
    assert advertised(configured("--tls", "auto", "--user", "a:b", "--nodes", "1")) == ["1 SASL_SSL 127.0.0.1:9092"]
    environ = {"KAFKA_ADVERTISED_HOST_NAME": "kafka"}
    assert advertised(configured("--tls", "auto", "--nodes", "1", environ=environ)) == ["1 SSL kafka:9092"]


def test_user_options_leave_listeners_of_the_environment() -> None:
    environ = {
        "KAFKA_LISTENERS": "IN://127.0.0.1:1,OUT://127.0.0.1:2",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "IN:PLAINTEXT,OUT:SASL_PLAINTEXT",
        "KAFKA_LISTENER_NAME_OUT_SASL_ENABLED_MECHANISMS": "PLAIN",
    }
    cluster = configured("--user", "alice:secret", environ=environ)
    assert [listener.security_protocol for listener in cluster.nodes[0].listeners] == ["PLAINTEXT", "SASL_PLAINTEXT"]
    assert cluster.nodes[0].client_listener.name == "OUT"


# Errors


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["serve", "--port", "70000"], "invalid port '70000': use 0 to 65535"),
        (["serve", "--port", "x"], "invalid port 'x': use 0 to 65535"),
        (["serve", "--nodes", "0"], "invalid number of nodes '0': use 1 to 999"),
        (["server"], "unknown command 'server'; did you mean serve?"),
        (["serve", "--node", "3"], "unknown option --node; did you mean --nodes?"),
        (["topics", "creat", "orders"], "unknown command 'creat'; did you mean create?"),
        (["serve", "--nope"], "unknown option --nope"),
        (["serve", "--set", "num.partitions"], "invalid setting 'num.partitions': use key=value"),
        (["serve", "--max-memory", "0"], "invalid size '0'"),
        (["serve", "--max-memory", "2gb"], "invalid size '2gb'"),
        (["serve", "--log-level", "loud"], "argument --log-level: unknown value 'LOUD'; use one of DEBUG, INFO, WARN, ERROR"),
        (["serve", "--log-format", "xml"], "argument --log-format: unknown value 'xml'; use one of "),
        (["serve", "--feature", "group.version"], "invalid feature 'group.version': use NAME=LEVEL"),
        (["serve", "--tls", "on"], "argument --tls: unknown value 'on'; use one of auto"),
        (["healthcheck", "--bootstrap-server", "9092"], "invalid address '9092': use HOST:PORT"),
    ],
)
def test_invalid_options_print_one_line(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert_one_line(capsys.readouterr().err, message)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--set", "num.partitions=many"], "Invalid value many for configuration num.partitions: Not a number of type INT"),
        (["--set", "listeners=nonsense"], "use NAME://host:port"),
        (["--listener", "A://127.0.0.1:1", "--port", "2"], "--port cannot be combined with listeners"),
        (["--set", "num.partition=3"], "unknown setting num.partition; did you mean num.partitions?"),
        (["--set", "retention.ms=3", "--set", "log.retention.ms=3"], "retention.ms is given as log.retention.ms too, which is its name"),
        (["--config", "missing.properties"], "cannot read --config missing.properties: No such file or directory; give the path"),
        (["--config", "."], "cannot read --config .: Is a directory; give the path of a server.properties"),
        (["--config", "/dev/zero"], "cannot read --config /dev/zero: it has more than 1048576 bytes"),
        (["--load", "/dev/zero"], "cannot load /dev/zero: it is a device, not a regular file"),
        (["--ready-file", "."], "cannot write --ready-file .: it is a folder, not a regular file"),
        (["--topic", "or ders:1"], "invalid topic name: 'or ders' contains"),
        (["--topic", "orders"], "use name:partitions"),
        (["--user", "alice"], "invalid user: use name:password, such as alice:secret"),
        (["--acl", "alice:read"], "invalid ACL 'alice:read': use PRINCIPAL:allow|deny:OPERATIONS:RESOURCE:NAME"),
        (["--user", "a:b", "--listener", "OUT://:1"], "users are configured, but no listener uses SASL_PLAINTEXT or SASL_SSL"),
        (["--listener", "SASL_PLAINTEXT://:1"], "contains GSSAPI, Kafka's default, but Kerberos is not supported"),
        (["--topic", "orders:10001"], "partitions must be at most 10000, as in one request to Kafka, not 10001"),
        (["--topic", "orders:1:3"], "replication factor 3 exceeds the number of nodes (2)"),
        (["--topic", "orders:1", "--topic", "orders:2"], "specified twice"),
        (["--control", "9099"], "invalid address '9099' for control: use HOST:PORT, such as 127.0.0.1:9099"),
        (
            ["--control", "0.0.0.0:9099"],
            "control cannot listen on 0.0.0.0 without a token: set a token, or, outside a container, listen on 127.0.0.1",
        ),
        (["--control", "127.0.0.1:9099", "--control-token", ""], "invalid token for control"),
        (["--data", "missing"], "no seed data at missing: give a file, a folder with .jsonl or .csv files"),
        (["--latest", "5"], "--topics, --from-offset, --until-time and --latest have no effect without --from-log-dir"),
        (["--memory-limit", "8m"], "--memory-limit has no effect without --data-dir"),
        (["--from-log-dir", "missing"], "missing is no folder; give one of the log.dirs of a broker"),
        (["--from-log-dir", "missing", "--nodes", "2"], "--load and --nodes cannot be combined with --from-log-dir"),
        (["--exec", "'pytest"], "--exec: No closing quotation in 'pytest"),
        (["--exec", ""], "--exec needs a command, such as 'pytest -q'"),
        (["--feature", "group.versio=1"], "unknown feature group.versio: did you mean group.version?"),
        (["--control-token", "s3cret"], "--control-token has no effect without --control HOST:PORT"),
    ],
)
def test_invalid_values_print_one_line(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("KAFKA_")]:
        monkeypatch.delenv(name)
    assert main(["serve", *argv]) == 2
    assert_one_line(capsys.readouterr().err, message)


def assert_one_line(text: str, message: str) -> None:
    assert message in text
    assert text.startswith("odradek")
    assert text.count("\n") == 1


# Processes


@pytest.mark.parametrize("code", [0, 3])
def test_serve_returns_the_exit_code_of_its_command(code: int, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    program = f"import os; print(os.environ['BOOTSTRAP_SERVERS'], open('{ready}').read(), sep='|'); raise SystemExit({code})"
    words = [sys.executable, "-c", program]
    with running(["--port", "0", "--ready-file", str(ready), "--exec", shlex.join(words)]) as process:
        printed, _ = process.communicate(timeout=30)
    servers, _, content = printed.partition("|")
    assert (process.returncode, content) == (code, f"bootstrap.servers={servers}\n\n")
    assert not ready.exists()


def test_serve_ends_its_command_at_sigterm() -> None:
    words = [sys.executable, "-c", "import signal; print('running', flush=True); signal.pause()"]
    with running(["--port", "0", "--exec", shlex.join(words)]) as process:
        assert process.stdout is not None and process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM


@contextmanager
def serving_its_parent(*options: str) -> Iterator[subprocess.Popen[str]]:
    """Runs `python -m odradek serve --exit-with-parent` with pipes to this process; it has printed its addresses."""
    words = [sys.executable, "-m", "odradek", "serve", "--port", "0", "--exit-with-parent", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=CLEAN, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_serve_ends_with_its_standard_input() -> None:
    with serving_its_parent("--quiet") as process:
        assert process.stdin is not None
        process.stdin.write("what the parent writes has no effect\n")
        process.stdin.flush()
        bootstrap_servers(process)
        process.stdin.close()
        assert process.wait(30) == 0


def test_command_without_parent_is_ended() -> None:
    command = "import signal, sys; print(repr(sys.stdin.read()), flush=True); signal.pause()"
    with serving_its_parent("--exec", shlex.join([sys.executable, "-c", command])) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "''\n"
        process.stdin.close()
        assert process.wait(30) == 128 + signal.SIGTERM


def test_serve_without_packages_says_that_checksums_are_slow() -> None:
    code = """
import sys
sys.modules |= dict.fromkeys(["numpy", "crc32c"])
from odradek.broker.cli import main
sys.exit(main(["serve", "--port", "0", "--quiet", "--log-level", "WARN", "--exec", "true"]))
"""
    done = subprocess.run([sys.executable, "-c", code], env=CLEAN, capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    assert "checksums of record batches are computed in Python, which is slower" in line


def test_command_that_does_not_exist_prints_one_line() -> None:
    with running(["--port", "0", "--exec", "no-such-command --fast"]) as process:
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert errors.splitlines()[-1] == "odradek: no-such-command: No such file or directory"


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_serve_prints_addresses_and_ends_cleanly(signal_number: int) -> None:
    with running(["--port", "0"]) as process:
        servers = bootstrap_servers(process).split(",")
        assert len(servers) == 2
        for server in servers:
            host, port = server.split(":")
            socket.create_connection((host, int(port))).close()
        process.send_signal(signal_number)
        _, errors = process.communicate(timeout=2)
        assert process.returncode == 0
    said = {r"\[KafkaServer id=1\] started": 1, r"\[KafkaServer id=2\] started": 1, "RECOVERY to RUNNING": 2, "Kafka Server started": 1}
    assert {wanted: len(re.findall(wanted, errors)) for wanted in said} == said
    assert "Traceback" not in errors


def printing_of(*options: str) -> tuple[str, str]:
    """Returns the second line of a cluster's stdout, and its stderr after a client has sent what is not Kafka's protocol."""
    with running(["--nodes", "1", "--port", "0", "--control", "127.0.0.1:0", *options]) as process:
        host, port = bootstrap_servers(process).split(":")
        with socket.create_connection((host, int(port))) as bad:
            bad.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert bad.recv(1) == b""
        assert process.stdout is not None
        second_line = process.stdout.readline()
        process.terminate()
        _, errors = process.communicate(timeout=10)
        return second_line, errors


def test_serve_prints_the_url_of_its_schema_registry() -> None:
    arguments = ["--nodes", "1", "--port", "0", "--schema-registry", "127.0.0.1:0", "--set", "schema.compatibility.level=full", "--quiet"]
    with running(arguments) as process:
        bootstrap_servers(process)
        assert process.stdout is not None
        name, _, url = process.stdout.readline().strip().partition("=")
        with urlopen(f"{url}/config", timeout=10) as response:
            assert (name, json.load(response)) == ("schema.registry.url", {"compatibilityLevel": "FULL"})


def test_serve_starts_the_registry_of_its_environment() -> None:
    environ = {"SCHEMA_REGISTRY_LISTENERS": "http://127.0.0.1:0", "SCHEMA_REGISTRY_HOST_NAME": "ignored"}
    with running(["--nodes", "1", "--port", "0", "--quiet"], environ) as process:
        bootstrap_servers(process)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("schema.registry.url=http://127.0.0.1:")


def test_quiet_cluster_prints_its_addresses_only() -> None:
    second_line, errors = printing_of("--quiet")
    assert (second_line.startswith("control="), errors) == (True, "")


@pytest.mark.parametrize("options", [["--log-level", "warn"], ["--log-level=INFO"], ["--quiet", "--log-level", "INFO"]])
def test_log_level_leaves_out_lower_entries(options: list[str]) -> None:
    _, errors = printing_of(*options)
    levels = set(re.findall(r"^\[[\d :,-]+\] (\w+)", errors, re.MULTILINE))
    assert levels == (set() if "warn" in options else {"INFO"})
    assert ("Ctrl-C stops the cluster." in errors) == ("--quiet" not in options)


def test_serve_with_tls_prints_the_ca_and_deletes_it_at_the_end() -> None:
    with running(["--nodes", "1", "--port", "0", "--tls", "auto", "--user", "alice:secret"]) as process:
        host, port = bootstrap_servers(process).split(":")
        assert process.stdout is not None
        found = re.fullmatch(r"ssl\.ca\.location=(\S+)\n", process.stdout.readline())
        assert found
        context = ssl.create_default_context(cafile=found[1])
        with context.wrap_socket(socket.create_connection((host, int(port))), server_hostname=host) as connection:
            assert connection.version() == "TLSv1.3"
        process.terminate()
        output, errors = process.communicate(timeout=10)
        assert (process.returncode, Path(found[1]).exists(), "secret" in output + errors) == (0, False, False)


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="this system's pipes have a fixed size")
def test_full_stderr_blocks_neither_clients_nor_sigterm() -> None:
    with running(["--nodes", "1", "--port", "0"]) as process:
        assert process.stderr is not None
        pipe_bytes = fcntl.fcntl(process.stderr, fcntl.F_SETPIPE_SZ, 4096)
        host, port = bootstrap_servers(process).split(":")
        for _ in range(pipe_bytes // 50):  # each is a log entry of more than 50 bytes
            with socket.create_connection((host, int(port))) as bad:
                bad.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert bad.recv(1) == b""
        process.terminate()
        assert process.wait(10) == 0


def test_serve_starts_with_few_modules() -> None:
    """Coordinators, handlers and messages are imported when they are first used. Garbage is collected only after the start."""
    code = """
import gc, sys
before = set(sys.modules)
import asyncio
from odradek.broker.cli import main

async def wait(self):
    print(gc.isenabled(), gc.get_freeze_count() > 0, *sys.modules.keys() - before)

asyncio.Event.wait = wait
main(["serve", "--port", "0"])
"""
    done = subprocess.run([sys.executable, "-c", code], env=CLEAN, capture_output=True, text=True, check=True)
    _, printed = done.stdout.splitlines()
    is_enabled, is_frozen, *loaded = printed.split()
    assert (is_enabled, is_frozen) == ("True", "True")
    assert not {"crc32c", "cramjam", "difflib", "hashlib", "ipaddress", "json", "pathlib", "shutil", "uuid"} & set(loaded)
    deferred = (
        "broker.controls",
        "broker.groups",
        "broker.transactions",
        "protocol.batches.records",
        "protocol.batches.checks",
        "protocol.messages.metadata",
    )
    assert not [name for name in loaded if name.startswith(tuple(f"odradek.{each}" for each in deferred))]
    assert len([name for name in loaded if name.startswith("odradek.")]) <= 130


def test_port_in_use_prints_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        with running(["--nodes", "1", "--port", str(port)]) as process:
            output, errors = process.communicate(timeout=10)
    assert process.returncode == 2
    assert output == ""
    complaints = [line for line in errors.splitlines() if not line.startswith("[")]
    assert len(complaints) == 1
    assert str(port) in complaints[0]


def test_missing_key_store_prints_one_line() -> None:
    with running(["--nodes", "1", "--listener", "SSL://127.0.0.1:0"]) as process:
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 2
    assert errors == "odradek: listener SSL uses SSL but has no key store; set ssl.keystore.*, or use --tls auto (in Python, tls=True)\n"


def test_control_address_is_the_second_line() -> None:
    environ = {"ODRADEK_CONTROL_TOKEN": "s3cret"}
    with running(["--nodes", "1", "--port", "0", "--control", "127.0.0.1:0"], environ) as process:
        assert bootstrap_servers(process).startswith("127.0.0.1:")
        assert process.stdout is not None
        name, _, address = process.stdout.readline().strip().partition("=")
        assert name == "control"
        command = [*COMMAND, "ctl", "clock", "show", "--control", address]
        shown = subprocess.run(command, env=CLEAN | environ, capture_output=True, text=True)
        assert (shown.returncode, shown.stderr) == (0, "")
        refused = subprocess.run(command, env=CLEAN, capture_output=True, text=True)
        assert refused.returncode == 2
        process.terminate()
        output, errors = process.communicate(timeout=10)
    assert (process.returncode, output) == (0, "")
    assert "Traceback" not in errors


def test_control_port_in_use_prints_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        address = f"127.0.0.1:{busy.getsockname()[1]}"
        with running(["--nodes", "1", "--port", "0", "--control", address]) as process:
            output, errors = process.communicate(timeout=10)
    assert (process.returncode, output) == (2, "")
    assert [line for line in errors.splitlines() if not line.startswith("[")] == [
        f"odradek: cannot listen on {address}: Address already in use; choose another port, or port 0 for any free one"
    ]


def test_zookeeper_environment_starts_and_is_healthy() -> None:
    environ = compose_environment() | {
        "KAFKA_LISTENERS": "INTERNAL://127.0.0.1:0,EXTERNAL://127.0.0.1:0",
        "KAFKA_ADVERTISED_LISTENERS": "INTERNAL://127.0.0.1:0,EXTERNAL://localhost:0",
        "KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181",
    }
    with running(["--nodes", "2"], environ) as process:
        server = bootstrap_servers(process).split(",")[0]
        health = subprocess.run([*COMMAND, "healthcheck", "--bootstrap-server", server], env=CLEAN, capture_output=True, text=True)
        assert (health.returncode, health.stderr) == (0, "")
        process.terminate()
        _, errors = process.communicate(timeout=2)
    assert len(re.findall("have no effect .*: .*zookeeper.connect", errors)) == 1


def test_healthcheck_uses_listeners_of_the_environment() -> None:
    """As HEALTHCHECK in the image: with another port, and an advertised address that is reachable only from outside."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {"KAFKA_LISTENERS": f"PLAINTEXT://:{port}", "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://nowhere.invalid:9092"}
    command = [*COMMAND, "healthcheck"]
    with running(["--nodes", "1"], environ) as process:
        assert bootstrap_servers(process) == "nowhere.invalid:9092"
        health = subprocess.run(command, env=CLEAN | environ, capture_output=True, text=True)
        assert (health.returncode, health.stderr) == (0, "")
        elsewhere = subprocess.run([*command, "--bootstrap-server", f"127.0.0.1:{port}"], env=CLEAN, capture_output=True, text=True)
        assert elsewhere.returncode == 1
        assert_one_line(elsewhere.stderr, "broker 1 at nowhere.invalid:9092 does not answer")
    health = subprocess.run(command, env=CLEAN | environ, capture_output=True, text=True)
    assert health.returncode == 1
    assert_one_line(health.stderr, f"listener PLAINTEXT at 127.0.0.1:{port} does not answer")


def test_healthcheck_without_a_cluster_fails() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    health = subprocess.run([*COMMAND, "healthcheck", "--bootstrap-server", f"127.0.0.1:{port}"], env=CLEAN, capture_output=True, text=True)
    assert health.returncode == 1
    assert_one_line(health.stderr, "does not answer")


@pytest.mark.parametrize(
    ("imports", "left_out"),
    [
        (
            "from odradek.broker.commands import ctl",
            {"asyncio", "broker.cluster.state", "broker.controls.interface.command_help", "broker.network", "difflib", "storage"},
        ),
        (
            "from odradek import Cluster",
            {"asyncio", "broker.cluster.state", "broker.network.server", "broker.settings.rows", "protocol.schema", "storage.log"},
        ),
    ],
)
def test_declarations_of_controls_import_few_modules(imports: str, left_out: set[str]) -> None:
    done = subprocess.run([sys.executable, "-c", f"import sys; {imports}; print(*sys.modules)"], env=CLEAN, capture_output=True, text=True)
    loaded = {name.removeprefix("odradek.") for name in done.stdout.split()}
    assert "broker.controls.cluster_controls" in loaded
    assert not loaded & (left_out | {"broker.appending.append", "broker.groups.coordinator", "protocol.batches.record_builder"})


@pytest.mark.parametrize("imports", ["from odradek.broker.commands import ctl", "from odradek import Cluster"])
def test_declarations_of_controls_compile_few_classes(imports: str) -> None:
    """A dataclass takes half a millisecond; those of `FrozenData` are compiled when they are used."""
    code = f"""
import dataclasses, sys
made, calls = dataclasses.dataclass, []
dataclasses.dataclass = lambda *args, **options: calls.append(sys._getframe(1).f_globals["__name__"]) or made(*args, **options)
{imports}
print(sum(name.startswith("odradek.") for name in calls))
"""
    done = subprocess.run([sys.executable, "-c", code], env=CLEAN, capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 5


def test_healthcheck_imports_few_modules() -> None:
    imports = "import sys; from odradek.broker import cli; from odradek.broker.client import healthcheck"
    code = f"{imports}; cli._parser(['healthcheck']); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], env=CLEAN, capture_output=True, text=True, check=True).stdout.split()
    assert not {
        "asyncio",
        "uvloop",
        "logging",
        *(["dataclasses"] if sys.version_info < (3, 14) else []),  # argparse imports it from then on
        "odradek.broker.settings.rows",
        "odradek.broker.settings.values",
        "odradek.protocol.fields",
        "odradek.protocol.frame",
    } & set(loaded)
