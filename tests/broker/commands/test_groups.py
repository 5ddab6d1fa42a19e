"""`odradek groups`, and the requests of the client that it sends."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from odradek import Cluster
from odradek.broker.client.cluster_client import ClusterClient
from odradek.broker.commands.options import addresses
from odradek.protocol.messages.share_group_heartbeat import SHARE_GROUP_HEARTBEAT, ShareGroupHeartbeatRequest
from odradek.protocol.messages.streams_group_heartbeat import STREAMS_GROUP_HEARTBEAT, StreamsGroupHeartbeatRequest, Subtopology, Topology
from tests.broker.commands.console import Console

pytestmark = pytest.mark.clients


def committed(cluster: Cluster, group: str) -> dict[tuple[str, int], int]:
    return cluster.group(group).committed


@pytest.mark.parametrize(("protocol", "kind"), [("classic", "classic"), ("consumer", "consumer")])
def test_group_with_a_consumer_is_described(shared_cluster: Cluster, console: Console, protocol: str, kind: str) -> None:
    shared_cluster.create_topic("orders", 2)
    shared_cluster.produce("orders", ["a", "b", "c"], partition=0)
    settings = {
        "bootstrap.servers": shared_cluster.bootstrap_servers,
        "group.id": "billing",
        "client.id": "tests",
        "group.protocol": protocol,
    }
    consumer = Consumer({**settings, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    try:
        consumer.subscribe(["orders"])
        (message,) = consumer.consume(1, timeout=30)
        consumer.commit(message=message, asynchronous=False)
        shared_cluster.group("billing").wait_until_stable(members=1)
        (listed,) = console.succeed("groups", "--output", "json").json
        assert (listed["group_id"], listed["type"], listed["state"]) == ("billing", kind, "Stable")
        (group,) = console.succeed("groups", "describe", "billing", "--output", "json").json
        assert (group["state"], group["type"], group["lag"]) == ("Stable", kind, 2)
        (member,) = group["members"]
        assert (member["client_id"], member["client_host"], member["assignment"]) == ("tests", "/127.0.0.1", {"orders": [0, 1]})
        assert group["offsets"] == [
            {"topic": "orders", "partition": 0, "committed": 1, "end_offset": 3, "lag": 2},
            {"topic": "orders", "partition": 1, "committed": None, "end_offset": 0, "lag": 0},
        ]
        refused = console.run("groups", "reset-offsets", "billing", "--to", "earliest")
        assert (refused.code, refused.output) == (1, "")
        assert refused.errors == "odradek: group billing has members, which would overwrite the offsets; stop them first\n"
        refused = console.run("groups", "delete", "billing")
        assert (refused.code, refused.errors) == (1, "odradek: group billing has members; stop them first\n")
    finally:
        consumer.close()
    assert console.succeed("groups", "delete", "billing").output == "DELETED\nbilling\n"
    assert console.succeed("groups").output == ""


@pytest.mark.parametrize(
    ("place", "offsets"),
    [
        ("earliest", [1, 0]),
        ("latest", [4, 2]),
        ("2", [2, 2]),
        ("0", [1, 0]),
        ("-1", [3, 1]),
        ("2026-01-31T12:00:00Z", [3, 2]),
        ("2026-01-31T13:00:00+01:00", [3, 2]),
    ],
)
def test_offsets_are_moved_to_a_place(shared_cluster: Cluster, console: Console, place: str, offsets: list[int]) -> None:
    noon_ms = 1_769_860_800_000
    shared_cluster.create_topic("orders", 2)
    shared_cluster.produce("orders", [{"value": "v", "timestamp": noon_ms + offset} for offset in (-2, -2, -1, 0)], partition=0)
    shared_cluster.produce("orders", [{"value": "v", "timestamp": noon_ms - 1}, {"value": "v", "timestamp": noon_ms - 1}], partition=1)
    admin = AdminClient({"bootstrap.servers": shared_cluster.bootstrap_servers})
    admin.delete_records([TopicPartition("orders", 0, 1)])[TopicPartition("orders", 0, 1)].result(30)
    rows = console.succeed("groups", "reset-offsets", "billing", "--topic", "orders", "--to", place, "--output", "json").json
    assert rows == [{"topic": "orders", "partition": index, "before": None, "after": offset} for index, offset in enumerate(offsets)]
    assert committed(shared_cluster, "billing") == {("orders", index): offset for index, offset in enumerate(offsets)}


def test_dry_run_moves_nothing(shared_cluster: Cluster, console: Console) -> None:
    shared_cluster.create_topic("orders")
    shared_cluster.produce("orders", ["a"], partition=0)
    console.succeed("groups", "reset-offsets", "billing", "--topic", "orders", "--to", "latest")
    shown = console.succeed("groups", "reset-offsets", "billing", "--to", "earliest", "--dry-run").output
    assert shown == "TOPIC   PARTITION  BEFORE  AFTER\norders  0          1       0\n"
    assert committed(shared_cluster, "billing") == {("orders", 0): 1}


def test_offsets_without_a_topic_are_not_moved(console: Console) -> None:
    result = console.run("groups", "reset-offsets", "billing", "--to", "earliest")
    assert (result.code, result.errors) == (1, "odradek: group billing has committed no offsets; name topics with --topic\n")


@pytest.mark.parametrize("action", ["describe", "delete"])
def test_unknown_group_is_an_error(console: Console, action: str) -> None:
    result = console.run("groups", action, "billing")
    assert (result.code, result.output) == (1, "")
    assert result.errors == "odradek: there is no group 'billing'; odradek groups lists those that exist\n"


def test_invalid_place_is_a_usage_error(console: Console) -> None:
    for place, message in (("first", "invalid start 'first': use earliest, latest, an offset"), ("2026-01-31", "has no time zone: write")):
        result = console.run("groups", "reset-offsets", "billing", "--to", place)
        assert (result.code, result.output) == (2, "")
        assert message in result.errors and result.errors.count("\n") == 1


def test_share_group_is_described(shared_cluster: Cluster, console: Console) -> None:
    shared_cluster.create_topic("orders", 1)
    with ClusterClient(addresses(shared_cluster.bootstrap_servers)) as client:
        join = ShareGroupHeartbeatRequest(group_id="sharing", member_id="m" * 22, member_epoch=0, subscribed_topic_names=["orders"])
        client.send_to(client.coordinator("sharing"), SHARE_GROUP_HEARTBEAT, join)
        (group,) = console.succeed("groups", "describe", "sharing", "--output", "json").json
    assert (group["type"], group["state"], [each["member_id"] for each in group["members"]]) == ("share", "Stable", ["m" * 22])


def test_streams_group_is_described_with_its_tasks(shared_cluster: Cluster, console: Console) -> None:
    shared_cluster.create_topic("lines", 2)
    subtopology = Subtopology(
        subtopology_id="0",
        source_topics=["lines"],
        source_topic_regex=[],
        state_changelog_topics=[],
        repartition_sink_topics=[],
        repartition_source_topics=[],
        copartition_groups=[],
    )
    with ClusterClient(addresses(shared_cluster.bootstrap_servers)) as client:
        join = StreamsGroupHeartbeatRequest(
            group_id="counting",
            member_id="m" * 22,
            endpoint_information_epoch=0,
            member_epoch=0,
            rebalance_timeout_ms=1000,
            topology=Topology(epoch=0, subtopologies=[subtopology]),
            active_tasks=[],
            standby_tasks=[],
            warmup_tasks=[],
            process_id="p",
            client_tags=[],
        )
        response = client.send_to(client.coordinator("counting"), STREAMS_GROUP_HEARTBEAT, join)
        assert response.error_code == 0, response.error_message
        (group,) = console.succeed("groups", "describe", "counting", "--output", "json").json
    assert (group["type"], [each["assignment"] for each in group["members"]]) == ("streams", [{"0": [0, 1]}])
    progress = [(each["topic"], each["partition"], each["committed"], each["lag"]) for each in group["offsets"]]
    assert progress == [("lines", 0, None, 0), ("lines", 1, None, 0)]
