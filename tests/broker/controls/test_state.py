"""Controls of the state over sockets: snapshots, reset, saved files, and what clients notice."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from odradek import AsyncCluster, Cluster
from odradek.broker.control_errors import InvalidControl
from odradek.broker.snapshots.state_file import InvalidStateFile
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from tests.broker.network.client import ask, connect
from tests.broker.tls.issued_stores import ISSUED
from tests.fuzz.broker_process import COMMAND, BrokerProcess
from tests.protocol.device_nodes import device

pytestmark = pytest.mark.sockets


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 1}, seed=1) as running:
        yield running


def values(cluster: Cluster) -> list[bytes | None]:
    return [record.value for record in cluster.records("orders")]


def addresses(cluster: Cluster) -> list[str]:
    return cluster.bootstrap_servers.split(",")


def is_reset(connection: socket.socket) -> bool:
    """Returns whether the peer has closed the connection with RST."""
    try:
        return connection.recv(1) is None
    except ConnectionResetError:
        return True


def test_restore_returns_to_the_snapshot_again_and_again(cluster: Cluster) -> None:
    cluster.produce("orders", ["a", "b"])
    snapshot = cluster.snapshot()
    for _ in range(3):
        cluster.produce("orders", ["c"])
        cluster.delete_topic("orders")
        cluster.restore(snapshot)
        assert values(cluster) == [b"a", b"b"]
    assert (snapshot.topics, cluster.snapshots()) == (1, [snapshot])


def test_restore_accepts_the_id_of_a_snapshot(cluster: Cluster) -> None:
    snapshot = cluster.snapshot()
    cluster.produce("orders", ["a"])
    cluster.restore(snapshot.id)
    assert values(cluster) == []


def test_snapshot_stays_valid_after_a_reset_until_it_is_closed(cluster: Cluster) -> None:
    cluster.produce("orders", ["a"])
    snapshot = cluster.snapshot()
    cluster.reset()
    assert values(cluster) == []
    cluster.restore(snapshot)
    assert values(cluster) == [b"a"]
    cluster.close_snapshot(snapshot)
    for use in (cluster.restore, cluster.close_snapshot):
        with pytest.raises(InvalidControl, match="snapshot: there is no snapshot 1; there is none"):
            use(snapshot)
    assert cluster.snapshots() == []


def test_reset_returns_to_the_state_after_start(cluster: Cluster) -> None:
    before = cluster.topics()
    cluster.create_topic("other")
    cluster.produce("orders", ["a"])
    cluster.clock.freeze()
    cluster.reset()
    assert [(each.name, each.configs) for each in cluster.topics()] == [(each.name, each.configs) for each in before]
    assert values(cluster) == []
    assert cluster.clock.state().speed == 1


OPTIMIZED = """
from odradek import Cluster

with Cluster(topics={"orders": 1}) as cluster:
    cluster.produce("orders", ["a"])
    cluster.reset()
    print(cluster.records("orders"))
"""


def test_reset_works_without_assert_statements() -> None:
    ran = subprocess.run([sys.executable, "-O", "-c", OPTIMIZED], capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("[]\n", 0), ran.stderr


def test_reset_repeats_no_generated_id_of_a_seeded_cluster() -> None:
    ids = []
    for _ in range(2):
        with Cluster(nodes=2, seed=1) as cluster:
            for _ in range(2):
                cluster.create_topic("other", partitions=2)
                with connect(addresses(cluster)[0]) as client:
                    (topic,) = ask(client, METADATA, 12, MetadataRequest(topics=None)).topics
                ids.append(topic.topic_id)
                cluster.reset()
    assert ids[:2] == ids[2:], "both clusters generate the same ids"
    assert ids[0] != ids[1]


def test_producer_ids_are_never_generated_twice(cluster: Cluster) -> None:
    def new_id() -> int:
        with connect(addresses(cluster)[0]) as client:
            request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)
            return int(ask(client, INIT_PRODUCER_ID, 4, request).producer_id)

    first, snapshot, second = new_id(), cluster.snapshot(), new_id()
    cluster.restore(snapshot)
    third = new_id()
    cluster.reset()
    assert [second, third, new_id()] == [first + 1, first + 2, first + 3]


@pytest.mark.parametrize("control", ["reset", "restore"])
def test_connections_are_closed_with_rst(control: str, loop_factory: Callable[[], Any]) -> None:
    with Cluster(nodes=2, topics={"orders": 1}, settings={"num.partitions": 1}) as cluster:
        snapshot = cluster.snapshot()
        clients = [connect(address) for address in addresses(cluster) * 3]
        waiting = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        for client in clients[:4]:
            ask(client, METADATA, 12, MetadataRequest(topics=None))
        # One client is in the middle of a request, and another one waits for its response.
        clients[0].sendall(b"\0\0")
        request = FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=[FetchTopic(topic="orders", partitions=[waiting])])
        clients[1].sendall(b"".join(encode_request(FETCH, 12, 9, "c", request)))
        cluster.wait_until(lambda: len(cluster.connections()) == len(clients))
        cluster.restore(snapshot) if control == "restore" else cluster.reset()
        assert cluster.connections() == []
        assert all(map(is_reset, clients))
        for client in clients:
            client.close()
        with connect(addresses(cluster)[0]) as again:
            assert len(ask(again, METADATA, 12, MetadataRequest(topics=None)).topics) == 1


def test_connection_limit_counts_only_connections_after_a_reset() -> None:
    with Cluster(nodes=1, settings={"max.connections": 3}) as cluster:
        for _ in range(3):
            clients = [connect(cluster.bootstrap_servers) for _ in range(3)]
            for client in clients:
                ask(client, METADATA, 12, MetadataRequest(topics=[]))
            cluster.reset()
            assert all(map(is_reset, clients))
            for client in clients:
                client.close()


def test_ports_stay_and_nodes_run_as_in_the_snapshot(cluster: Cluster) -> None:
    servers, both = cluster.bootstrap_servers, cluster.snapshot()
    cluster.stop_node(2)
    one = cluster.snapshot()
    for snapshot, refused in ((both, False), (one, True), (both, False)):
        cluster.restore(snapshot)
        assert cluster.bootstrap_servers == servers
        assert _refuses(addresses(cluster)[1]) == refused
        assert not _refuses(addresses(cluster)[0])
    cluster.stop_node(1)
    cluster.reset()
    assert not any(map(_refuses, addresses(cluster)))


def _refuses(address: str) -> bool:
    try:
        connect(address).close()
    except ConnectionRefusedError:
        return True
    return False


def test_control_that_waits_during_a_reset_sees_the_new_state(cluster: Cluster) -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=1, topics={"orders": 1}) as running:
            waiting = asyncio.create_task(running.wait_for_records("orders", 2, timeout_s=30))
            await running.produce("orders", ["before"])
            await running.reset()
            await running.produce("orders", ["a"])
            await asyncio.sleep(0)
            assert not waiting.done()
            await running.produce("orders", ["b"])
            assert [record.value for record in await waiting] == [b"a", b"b"]

    asyncio.run(scenario())


def test_saved_cluster_is_loaded_on_other_ports(cluster: Cluster, tmp_path: Path) -> None:
    cluster.produce("orders", ["a", "b"])
    file = tmp_path / "orders.odradek"
    assert cluster.save(file) == file.stat().st_size
    cluster.produce("orders", ["c"])
    with Cluster.load(file, settings={"num.partitions": 5}) as loaded:
        assert values(loaded) == [b"a", b"b"]
        assert set(addresses(loaded)).isdisjoint(addresses(cluster))
        loaded.produce("orders", ["d"])
        assert len(loaded.create_topic("other").partitions) == 5
        loaded.reset()
        assert values(loaded) == [b"a", b"b"], "the state after start is the loaded one"
    with Cluster.load(str(file)) as again:
        assert values(again) == [b"a", b"b"]


def test_loaded_seeded_cluster_continues_its_random_numbers(cluster: Cluster, tmp_path: Path) -> None:
    cluster.save(tmp_path / "state")
    expected = _created_id(cluster)
    for seed, equal in ((None, True), (5, False)):
        with Cluster.load(tmp_path / "state", seed=seed) as loaded:
            assert (_created_id(loaded) == expected) == equal


def _created_id(cluster: Cluster) -> bytes:
    with connect(addresses(cluster)[0]) as client:
        topic = CreatableTopic(name="new", num_partitions=1, replication_factor=1, assignments=[], configs=[])
        return bytes(ask(client, CREATE_TOPICS, 7, CreateTopicsRequest(topics=[topic], timeout_ms=1000)).topics[0].topic_id)


def test_async_cluster_saves_and_loads(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=1, topics={"orders": 1}) as running:
            await running.produce("orders", ["a"])
            await running.save(tmp_path / "state")
        async with AsyncCluster.load(tmp_path / "state") as loaded:
            snapshot = await loaded.snapshot()
            await loaded.reset()
            await loaded.restore(snapshot)
            assert [record.value for record in await loaded.records("orders")] == [b"a"]

    asyncio.run(scenario())


def test_save_to_an_impossible_path_names_it(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(InvalidControl, match=re.escape(f"file: cannot write {tmp_path}/none/state: No such file or directory")):
        cluster.save(tmp_path / "none" / "state")
    for path in (tmp_path, "/", ""):
        with pytest.raises(InvalidControl, match=r"file: cannot write .*: it is a folder, not a regular file"):
            cluster.save(path)
    with pytest.raises(InvalidControl, match="the path contains a null character"):
        cluster.save(f"{tmp_path}/a\0b")
    assert list(tmp_path.iterdir()) == []


def test_save_does_not_replace_a_device(cluster: Cluster, tmp_path: Path) -> None:
    path = device(tmp_path / "null")
    with pytest.raises(InvalidControl, match="it is a device"):
        cluster.save(path)
    assert path.is_char_device()


def test_saved_state_can_be_read_by_its_owner_only(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("readable by all")
    cluster.save(tmp_path / "state")
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", [Cluster, AsyncCluster])
def test_load_of_a_file_that_is_no_state_raises(kind: type[Cluster], tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"something else")
    with pytest.raises(InvalidStateFile, match=re.escape(f"cannot load {tmp_path}/state: it is not a saved state of odradek")):
        kind.load(tmp_path / "state")
    with pytest.raises(FileNotFoundError):
        kind.load(tmp_path / "none")


def test_untrusted_state_is_served_on_this_machine_only(cluster: Cluster, tmp_path: Path) -> None:
    with Cluster(1, settings={"listeners": "PLAINTEXT://0.0.0.0:0", "advertised.listeners": "PLAINTEXT://kafka.example:9092"}) as open_one:
        open_one.save(tmp_path / "state")
    hosts = {}
    for trust in (False, True):
        with Cluster.load(tmp_path / "state", trust=trust) as loaded:
            (listener,) = loaded._cluster._server.config.nodes[0].listeners
            hosts[trust] = listener.host
            loaded.reset()
    assert hosts == {False: "127.0.0.1", True: "0.0.0.0"}


def test_settings_of_a_file_that_name_files_need_trust(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    store = tmp_path / "store.pem"
    store.write_bytes(ISSUED.key + ISSUED.chain)
    secured = {
        "listeners": "SSL://127.0.0.1:0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
    }
    with Cluster(1, settings=secured) as cluster:
        cluster.save(tmp_path / "state")
    with pytest.raises(ValueError, match=r"ssl.keystore.location=.*store.pem; set it yourself, or, if you trust the author"):
        Cluster.load(tmp_path / "state")
    for options in ({"trust": True}, {"settings": {"ssl.keystore.location": str(store)}}):
        Cluster.load(tmp_path / "state", **options).start().stop()


def test_loaded_cluster_with_tls_and_users_configures_clients(tmp_path: Path) -> None:
    with Cluster(1, tls=True, users={"alice": "secret", "bob": "other"}, topics={"orders": 1}) as secured:
        expected = secured.client_config("librdkafka", user="bob")
        secured.save(tmp_path / "state")
    with Cluster.load(tmp_path / "state") as loaded:
        loaded.reset()
        loaded.save(tmp_path / "again")
    with Cluster.load(tmp_path / "again") as loaded:
        found = loaded.client_config("librdkafka", user="bob")
        own = ("bootstrap.servers", "ssl.ca.location")
        assert {name: value for name, value in found.items() if name not in own} == {
            name: value for name, value in expected.items() if name not in own
        }
        client = AdminClient(found)
        assert "orders" in client.list_topics(timeout=10).topics


def test_serve_load_runs_the_saved_cluster(cluster: Cluster, tmp_path: Path) -> None:
    cluster.produce("orders", ["a"])
    cluster.save(tmp_path / "state")
    cluster.stop()
    with BrokerProcess({}, options=[f"--load={tmp_path / 'state'}", "--port=0"]) as process:
        with connect(process.bootstrap_servers.split(",")[1]) as client:
            topics = ask(client, METADATA, 12, MetadataRequest(topics=None)).topics
        assert [topic.name for topic in topics] == ["orders"]
        assert process.stop() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--load={}/none"], "cannot load {}/none: No such file or directory; give the path of a saved state"),
        (["--load={}/damaged"], "cannot load {}/damaged: it is not a saved state of odradek"),
        (["--trust"], "--trust has no effect without --load"),
        (["--load={}/damaged", "--nodes=2"], "--nodes, --config and --feature cannot be combined with --load"),
    ],
)
def test_serve_load_of_an_invalid_file_exits_with_2(options: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "damaged").write_bytes(b"damaged")
    command = [*COMMAND, "serve", *(option.format(tmp_path) for option in options)]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert message.format(tmp_path) in ended.stderr


def test_reset_beside_a_node_that_stops_keeps_both_consistent() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=2) as running:
            for _ in range(5):
                await asyncio.gather(running.stop_node(2), running.reset())
                assert not any(map(_refuses, running.bootstrap_servers.split(",")))
                await asyncio.gather(running.reset(), running.stop_node(2))
                assert [_refuses(address) for address in running.bootstrap_servers.split(",")] == [False, True]
                await running.reset()

    asyncio.run(scenario())


def test_reset_returns_the_ports_of_a_node_that_was_replaced(cluster: Cluster) -> None:
    before = addresses(cluster)
    cluster.remove_node(2)
    cluster.add_node(2)
    again = addresses(cluster)
    snapshot = cluster.snapshot()
    assert again[1] != before[1]
    cluster.reset()
    assert addresses(cluster) == before
    assert [_refuses(address) for address in [*before, again[1]]] == [False, False, True]
    cluster.restore(snapshot)
    assert addresses(cluster) == again
    assert [_refuses(address) for address in [*again, before[1]]] == [False, False, True]


@pytest.mark.usefixtures("loop_factory")
def test_node_that_refuses_connections_can_be_paused() -> None:
    with Cluster(nodes=2) as cluster:
        refusal = cluster.fault(refuse=True, node=2)
        cluster.pause_node(2)
        assert _refuses(addresses(cluster)[1])
        refusal.remove()
        assert not _refuses(addresses(cluster)[1])
        cluster.resume_node(2)
        with connect(addresses(cluster)[1]) as client:
            assert len(ask(client, METADATA, 12, MetadataRequest(topics=None)).brokers) == 2


def test_reset_removes_faults_and_restore_returns_them(cluster: Cluster) -> None:
    kept = cluster.fault(api="Metadata", error="UNKNOWN_SERVER_ERROR")
    snapshot = cluster.snapshot()
    later = cluster.fault(refuse=True, node=2)
    assert _refuses(addresses(cluster)[1])
    cluster.reset()
    assert cluster.list_faults() == []
    assert not _refuses(addresses(cluster)[1])
    with connect(addresses(cluster)[0]) as client:
        assert ask(client, METADATA, 12, MetadataRequest(topics=None)).topics[0].error_code == 0
    cluster.restore(snapshot)
    assert [each.fault for each in cluster.list_faults()] == [kept.number]
    assert later.number == kept.number + 1
    assert cluster.fault(api="Fetch", drop=True).number == later.number + 1, "numbers are not used again"
