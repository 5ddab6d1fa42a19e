from __future__ import annotations

import pytest

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, RecordBatch
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse, ProduceRequest, TopicProduceData
from tests.broker.harness import START_MS, World, a_batch, produce, produce_request

VERSIONS = range(PRODUCE.versions.first, PRODUCE.versions.last + 1)


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 2)


def ask(world: World, request: ProduceRequest, version: int = 9, partition: int = 0, client_id: str = "test") -> PartitionProduceResponse:
    """Sends a Produce to the leader of `t` and returns the response for one partition."""
    response = world.leader_of("t", partition).call(PRODUCE, version, request, client_id)
    answer: PartitionProduceResponse = response.responses[0].partition_responses[0]
    return answer


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("acks", [1, -1])
def test_produce_one_batch_is_appended(world: World, version: int, acks: int) -> None:
    topic = world.cluster.topics["t"]
    for base_offset in (0, 2):
        request = produce_request("t", a_batch(b"a", b"b"), acks=acks, topic_id=topic.id if version >= 13 else bytes(16))
        answer = ask(world, request, version)
        assert (answer.error_code, answer.base_offset, answer.log_append_time_ms) == (0, base_offset, -1)
    (first, second) = [RecordBatch(view) for view in topic.partitions[0].log.batches(0, 4)]
    assert [record.value for record in second.records()] == [b"a", b"b"]
    assert [record.offset for record in second.records()] == [2, 3]
    assert first.crc_valid()
    assert second.crc_valid()


def test_produce_writes_the_leader_epoch_into_the_batch(world: World) -> None:
    world.cluster.nodes.stop(2)
    world.cluster.nodes.start(2)
    partition = next(p for p in world.cluster.topics["t"].partitions if p.leader_epoch == 1)
    produce(world, "t", b"x", partition=partition.index)
    (view,) = partition.log.batches(0, 1)
    assert RecordBatch(view).header.partition_leader_epoch == 1


def test_produce_to_unknown_topics_gets_errors(world: World) -> None:
    for request, version, code in (
        (produce_request("nope", a_batch(b"x")), 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (produce_request("t", a_batch(b"x"), partition=7), 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (produce_request("t", a_batch(b"x"), partition=-1), 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (produce_request("", a_batch(b"x"), topic_id=b"x" * 16), 13, ErrorCode.UNKNOWN_TOPIC_ID),
    ):
        answer = ask(world, request, version)
        assert (answer.error_code, answer.base_offset, answer.log_start_offset) == (code, -1, -1)


def test_produce_to_another_broker_returns_the_leader(world: World) -> None:
    partition = world.cluster.topics["t"].partitions[0]
    wrong = next(node for node in world.cluster.brokers if node != partition.leader)
    for version in (9, 10):
        response = world.client(wrong).call(PRODUCE, version, produce_request("t", a_batch(b"x")))
        answer = response.responses[0].partition_responses[0]
        assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        if version >= 10:
            assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (partition.leader, 0)
            assert [(node.node_id, node.port) for node in response.node_endpoints] == [(partition.leader, 9091 + partition.leader)]
        else:
            assert answer.current_leader is None
            assert response.node_endpoints == []


def test_produce_answers_each_partition_for_itself() -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 2)
    data = [produce_request("t", batch, partition=index).topic_data[0].partition_data[0] for index, batch in ((0, b""), (1, a_batch(b"x")))]
    request = ProduceRequest(acks=1, timeout_ms=1, topic_data=[TopicProduceData(name="t", partition_data=data)])
    answers = world.client().call(PRODUCE, 9, request).responses[0].partition_responses
    assert [answer.error_code for answer in answers] == [ErrorCode.INVALID_RECORD, 0]


def with_byte(batch: bytes, position: int, value: int) -> bytes:
    return batch[:position] + bytes([value]) + batch[position + 1 :]


@pytest.mark.parametrize(
    ("batch", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (b"short", ErrorCode.INVALID_RECORD),
        (a_batch(b"x")[:-1], ErrorCode.INVALID_RECORD),
        (a_batch(b"x") * 2, ErrorCode.INVALID_RECORD),
        (with_byte(a_batch(b"x"), 16, 1), ErrorCode.INVALID_RECORD),
        (with_byte(a_batch(b"x"), 7, 9), ErrorCode.INVALID_RECORD),
        (with_byte(a_batch(b"x"), 65, 0xEE), ErrorCode.CORRUPT_MESSAGE),
        (a_batch(b"x", is_control=True), ErrorCode.INVALID_RECORD),
        (a_batch(b"x", producer_id=1, producer_epoch=0), ErrorCode.INVALID_RECORD),
        (a_batch(bytes(1_048_588)), ErrorCode.MESSAGE_TOO_LARGE),
    ],
)
def test_invalid_batches_are_refused_and_not_stored(world: World, batch: bytes | None, code: ErrorCode) -> None:
    answer = ask(world, produce_request("t", batch))
    assert (answer.error_code, answer.base_offset) == (code, -1)
    assert answer.error_message is None
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 0


def test_invalid_timestamps_are_refused_with_kafkas_message() -> None:
    world = World()
    world.cluster.topics.create("t", 1, configs={"message.timestamp.before.max.ms": "1000"})
    old = build_batch([Record(0, START_MS - 2000, None, b"x", [])])
    answer = ask(world, produce_request("t", bytes(old)))
    assert (answer.error_code, len(answer.record_errors)) == (ErrorCode.INVALID_TIMESTAMP, 1)
    assert answer.error_message == "One or more records have been rejected due to invalid timestamp"


def test_incomplete_second_batch_is_ignored(world: World) -> None:
    batch = a_batch(b"x")
    assert ask(world, produce_request("t", batch + batch[:40])).error_code == 0
    assert world.cluster.topics["t"].partitions[0].log.size == len(batch)


def test_max_message_bytes_of_the_topic_applies() -> None:
    world = World()
    world.cluster.topics.create("t", 1, configs={"max.message.bytes": "100"})
    assert ask(world, produce_request("t", a_batch(bytes(10)))).error_code == 0
    assert ask(world, produce_request("t", a_batch(bytes(40)))).error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_zstd_before_version_7_is_refused(world: World) -> None:
    batch = a_batch(b"x" * 100, compression=Compression.ZSTD)
    assert ask(world, produce_request("t", batch), version=6).error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert ask(world, produce_request("t", batch), version=7).error_code == 0


@pytest.mark.parametrize("acks", [2, -2, 5])
def test_other_acks_are_refused(world: World, acks: int) -> None:
    assert ask(world, produce_request("t", a_batch(b"x"), acks=acks)).error_code == ErrorCode.INVALID_REQUIRED_ACKS


def test_internal_topics_accept_only_the_admin_client() -> None:
    world = World(nodes=1)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    for client_id, code in (("test", ErrorCode.INVALID_TOPIC_EXCEPTION), ("__admin_client", 0)):
        batch = bytes(build_batch([Record(0, 1000, b"key", b"x", [])]))
        response = world.client().call(PRODUCE, 9, produce_request("__consumer_offsets", batch), client_id)
        assert response.responses[0].partition_responses[0].error_code == code


def test_too_few_in_sync_replicas_refuse_acks_all() -> None:
    world = World(settings={"min.insync.replicas": "2"})
    world.cluster.topics.create("t", 1)
    assert ask(world, produce_request("t", a_batch(b"x"))).error_code == 0
    world.cluster.nodes.stop(2)
    assert ask(world, produce_request("t", a_batch(b"x"))).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert ask(world, produce_request("t", a_batch(b"x"), acks=1)).base_offset == 1
    world.cluster.nodes.start(2)
    assert ask(world, produce_request("t", a_batch(b"x"))).base_offset == 2


def test_acks_0_gets_no_response_and_errors_close(world: World) -> None:
    client = world.leader_of("t")
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x"), acks=0))
    assert client.sent == b""
    assert client.connection.closing is None
    client.send(PRODUCE, 9, produce_request("t", b"", acks=0))
    assert client.sent == b""
    assert client.closed == "Produce with acks=0 failed with INVALID_RECORD"
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 1


def test_log_append_time_is_written_into_the_batch() -> None:
    world = World()
    world.cluster.topics.create("t", 1, configs={"message.timestamp.type": "LogAppendTime"})
    answer = ask(world, produce_request("t", a_batch(b"a", b"b")))
    assert answer.log_append_time_ms == START_MS
    (view,) = world.cluster.topics["t"].partitions[0].log.batches(0, 2)
    batch = RecordBatch(view)
    assert batch.crc_valid()
    assert [record.timestamp for record in batch.records()] == [START_MS, START_MS]


def test_create_time_topic_clears_the_log_append_time_bit(world: World) -> None:
    ask(world, produce_request("t", a_batch(b"a", timestamp_type=1)))
    (view,) = world.cluster.topics["t"].partitions[0].log.batches(0, 1)
    batch = RecordBatch(view)
    assert batch.crc_valid()
    assert batch.header.timestamp_type == 0


def sequenced(*values: bytes, sequence: int, epoch: int = 0) -> ProduceRequest:
    return produce_request("t", a_batch(*values, producer_id=7, producer_epoch=epoch, base_sequence=sequence))


def test_idempotent_producer_is_checked_by_sequence(world: World) -> None:
    offsets = [ask(world, sequenced(b"a", b"b", sequence=number)).base_offset for number in (0, 2, 4)]
    assert offsets == [0, 2, 4]
    assert ask(world, sequenced(b"a", b"b", sequence=2)).base_offset == 2  # sent again
    gap = ask(world, sequenced(b"a", sequence=9))
    assert (gap.error_code, gap.log_start_offset) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
    assert ask(world, sequenced(b"a", sequence=0, epoch=1)).base_offset == 6
    assert ask(world, sequenced(b"a", sequence=6)).error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 7
