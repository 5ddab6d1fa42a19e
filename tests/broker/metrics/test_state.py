"""The metrics of nodes, connections, waiting requests, groups, faults and memory."""

from __future__ import annotations

from odradek.broker.metrics import state
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from tests.broker.harness import World, produce
from tests.broker.metrics.activity import commit, fetch
from tests.broker.metrics.expositions import Labels, labelled, of


def rendered(world: World) -> dict[str, dict[Labels, float]]:
    return of(state.pieces(world.core))


def test_connections_and_parked_requests_are_counted() -> None:
    world = World(2)
    world.cluster.topics.create("orders", assignments=[[2]])
    world.client(1)
    waiting = world.client(2)
    waiting.send(FETCH, 11, fetch("orders"))
    found = rendered(world)
    assert found["odradek_connections"] == {labelled(node=str(node), listener="PLAINTEXT"): 1 for node in (1, 2)}
    assert found["odradek_parked_requests"] == {labelled(node="2", api="Fetch"): 1}
    waiting.connection.close("the test is over")
    assert rendered(world)["odradek_connections"][labelled(node="2", listener="PLAINTEXT")] == 0


def test_node_that_serves_no_clients_is_down() -> None:
    world = World(2)
    world.cluster.nodes.stop(2)
    assert rendered(world)["odradek_node_up"] == {labelled(node="1"): 1, labelled(node="2"): 0}


def test_groups_are_counted_by_type_and_state() -> None:
    world = World(1)
    world.cluster.topics.create("orders", 1)
    for number in range(3):
        commit(world, f"group-{number}", {("orders", 0): 0})
    assert rendered(world)["odradek_groups"] == {labelled(type="classic", state="Empty"): 3}


def test_hits_of_faults_are_counted() -> None:
    world = World(1)
    fault = world.fault(api="Metadata", topic='a"\n', error="REQUEST_TIMED_OUT")
    world.fault(api="Metadata", delay_ms=0)
    client = world.client()
    for _ in range(2):
        client.call(METADATA, 9, MetadataRequest(topics=[]))
    found = rendered(world)["odradek_fault_hits_total"]
    assert sorted(found.values()) == [0, 2]
    assert found[labelled(fault=str(fault.number), description=fault.text)] == 0


def test_memory_contains_the_bytes_of_logs() -> None:
    world = World(1, max_memory_bytes=1 << 24)
    world.cluster.topics.create("orders", 1)
    produce(world, "orders", b"a" * 1000)
    found = rendered(world)
    assert found["odradek_memory_bytes"][labelled(kind="logs")] == world.cluster.topics["orders"].partitions[0].log.size > 1000
    assert found["odradek_memory_bytes"][labelled(kind="requests")] == 0
    assert found["odradek_memory_limit_bytes"] == {labelled(): 1 << 24}
