"""Ten members of a share group read three partitions while other members acquire records and crash."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import AcknowledgeType, Producer, ShareConsumer

from odradek.broker import Cluster
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.read_share_group_state import PartitionData
from odradek.protocol.messages.read_share_group_state_summary import (
    READ_SHARE_GROUP_STATE_SUMMARY,
    ReadShareGroupStateSummaryRequest,
    ReadStateSummaryData,
)
from odradek.protocol.messages.share_fetch import SHARE_FETCH, FetchPartition, FetchTopic, ShareFetchRequest
from odradek.protocol.schema import Api, Message
from tests import apache_kafka
from tests.clients.client import PATIENCE_S
from tests.clients.go_programs import run_go

pytestmark = [pytest.mark.clients, pytest.mark.slow]
SOURCE = Path(__file__).with_name("ShareClient.java")
MEMBERS, PARTITIONS, RECORDS, LIMIT = 10, 3, 150, 5
GROUP_RESOURCE = 32
CRASHES, ROUNDS = 4, 40
SETTINGS = {
    "group.share.record.lock.duration.ms": "3000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.initial.rebalance.delay.ms": "0",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "200",
    "share.coordinator.state.topic.num.partitions": "1",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, settings=SETTINGS) as cluster:
        yield cluster


def skip_without_java() -> None:
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is not installed")
    if subprocess.run([str(apache_kafka.java()), "--describe-module", "jdk.compiler"], capture_output=True).returncode:
        pytest.skip("this Java has no compiler")


class Raw:
    """A connection that sends single requests."""

    def __init__(self, bootstrap_servers: str) -> None:
        host, _, port = bootstrap_servers.partition(":")
        self.socket = socket.create_connection((host, int(port)), PATIENCE_S)

    def call(self, api: Api, version: int, request: Message) -> Any:
        self.send(api, version, request)
        return self.receive(api, version)

    def send(self, api: Api, version: int, request: Message) -> None:
        self.socket.sendall(b"".join(encode_request(api, version, 1, "raw", request)))

    def receive(self, api: Api, version: int) -> Any:
        with self.socket.makefile("rb") as answers:
            size = int.from_bytes(answers.read(4), "big")
            return decode_response(api, version, memoryview(answers.read(size)))[1]

    def wait_for_records(self, group: str, member: str, topic_id: bytes) -> None:
        """Asks for some records of each partition. The request waits until there are any that no other member has acquired."""
        wanted = [FetchPartition(partition_index=index, acknowledgement_batches=[]) for index in range(PARTITIONS)]
        request = ShareFetchRequest(
            group_id=group,
            member_id=member,
            share_session_epoch=0,
            max_wait_ms=1000,
            min_bytes=1,
            max_records=30,
            batch_size=10,
            topics=[FetchTopic(topic_id=topic_id, partitions=wanted)],
            forgotten_topics_data=[],
        )
        self.send(SHARE_FETCH, 2, request)

    def crash_with_records(self) -> int:
        """Closes the socket when the response has arrived. Returns how many records it has acquired."""
        response = self.receive(SHARE_FETCH, 2)
        self.socket.close()
        acquired = [each for topic in response.responses for partition in topic.partitions for each in partition.acquired_records]
        return sum(each.last_offset - each.first_offset + 1 for each in acquired)

    def decided(self, group: str, topic_id: bytes) -> list[int]:
        """Returns how many records of each partition are acknowledged or archived, as they are stored."""
        wanted = [PartitionData(partition=index, leader_epoch=0) for index in range(PARTITIONS)]
        topics = [ReadStateSummaryData(topic_id=topic_id, partitions=wanted)]
        response = self.call(READ_SHARE_GROUP_STATE_SUMMARY, 1, ReadShareGroupStateSummaryRequest(group_id=group, topics=topics))
        return [each.start_offset + each.delivery_complete_count for each in response.results[0].partitions]


class Decision(NamedTuple):
    """A line that ShareClient.java prints."""

    partition: int
    offset: int
    value: int
    accepted: int
    rejected: int
    renewed: int
    deliveries: int
    too_late: int

    def is_right(self, mode: str) -> bool:
        """Returns whether the record was decided once, as ShareClient.java decides, or was delivered as often as allowed."""
        rejects = mode == "explicit" and self.value % 10 == 0
        once = self.rejected if rejects else self.accepted
        return self.accepted + self.rejected <= 1 and (once == 1 or self.accepted + self.rejected == 0) and self.deliveries <= LIMIT


def produced(producer: Producer, topic: str, ends: list[int]) -> list[int]:
    """Produces numbered records to all partitions in turn, and returns the end offsets."""
    for number in range(RECORDS):
        producer.produce(topic, str(number), partition=number % PARTITIONS)
    assert producer.flush(PATIENCE_S) == 0
    return [end + RECORDS // PARTITIONS for end in ends]


def begin_at_the_start(raw: Raw, group: str) -> None:
    config = AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
    resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=group, configs=[config])
    response = raw.call(INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest(resources=[resource], validate_only=False))
    assert [each.error_code for each in response.responses] == [0]


@pytest.mark.parametrize("mode", ["explicit", "implicit"])
def test_java_share_consumers_decide_on_each_record_once(cluster: Cluster, mode: str) -> None:
    skip_without_java()
    topic = group = f"share-{mode}"
    cluster.create_topic(topic, PARTITIONS)
    raw = Raw(cluster.bootstrap_servers)
    metadata = raw.call(METADATA, 12, MetadataRequest(topics=[MetadataRequestTopic(name=topic)]))
    topic_id = metadata.topics[0].topic_id
    begin_at_the_start(raw, group)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "batch.num.messages": 10, "linger.ms": 1})
    command = apache_kafka.command(str(SOURCE), cluster.bootstrap_servers, topic, group, mode, str(MEMBERS))
    java = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        ends, crashes, rounds = produced(producer, topic, [0] * PARTITIONS), 0, 0
        cluster.wait_until(lambda: sum(raw.decided(group, topic_id)) > 0, timeout_s=PATIENCE_S)
        while crashes < CRASHES and rounds < ROUNDS:
            crashing = Raw(cluster.bootstrap_servers)
            crashing.wait_for_records(group, f"crash-{rounds}", topic_id)
            ends, rounds = produced(producer, topic, ends), rounds + 1
            crashes += crashing.crash_with_records() > 0
        assert crashes, "some members crash while they hold records"
        cluster.wait_until(lambda: raw.decided(group, topic_id) == ends, timeout_s=PATIENCE_S)
        lines = java.communicate(timeout=PATIENCE_S)[0].splitlines()
    finally:
        raw.socket.close()
        java.kill()
        java.communicate()
    assert (lines[0], lines[-1]) == ("running", "end")
    decided = [Decision(*map(int, line.split())) for line in lines[1:-1]]
    assert all(each.too_late == 0 for each in decided), "no record is delivered after a decision"
    wrong = [each for each in decided if not each.is_right(mode)]
    assert not wrong, wrong[:10]
    missing = sum(ends) - sum(each.accepted + each.rejected for each in decided)
    archived = sum(each.deliveries == LIMIT and not each.accepted + each.rejected for each in decided)
    assert missing <= archived + CRASHES * 30, "only crashed members can have had the last delivery of a record"
    if mode == "explicit":
        assert sum(each.renewed for each in decided) > 0
        assert sum(each.rejected for each in decided) > 0


def test_librdkafka_share_consumer_decides_explicitly(cluster: Cluster) -> None:
    topic = group = "share-librdkafka"
    cluster.create_topic(topic, 1)
    raw = Raw(cluster.bootstrap_servers)
    begin_at_the_start(raw, group)
    raw.socket.close()
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(30):
        producer.produce(topic, str(number))
    assert producer.flush(PATIENCE_S) == 0
    config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "share.acknowledgement.mode": "explicit"}
    accepted: list[int] = []
    released: set[int] = set()
    consumer = ShareConsumer(config)
    consumer.subscribe([topic])
    end_s = time.monotonic() + PATIENCE_S
    while len(accepted) < 30 and time.monotonic() < end_s:
        for message in consumer.poll(1.0):
            assert message.error() is None
            number = int(message.value() or b"")
            if number % 3 == 0 and number not in released:
                released.add(number)
                consumer.acknowledge(message, AcknowledgeType.RELEASE)
            else:
                accepted.append(number)
                consumer.acknowledge(message, AcknowledgeType.ACCEPT)
        consumer.commit_sync()
    consumer.close()
    assert sorted(accepted) == list(range(30)), "released records are delivered again, and accepted ones are not"


def test_franz_go_share_consumer_accepts_each_record_once(cluster: Cluster) -> None:
    topic = group = "share-franz"
    cluster.create_topic(topic, PARTITIONS)
    raw = Raw(cluster.bootstrap_servers)
    begin_at_the_start(raw, group)
    raw.socket.close()
    printed = run_go("franz_go_share", cluster.bootstrap_servers, topic, group)
    assert printed == "accepted 300 released 30 delivered 330"
