"""Records of `__transaction_state` and `__consumer_offsets` equal those that Apache Kafka 4.3.1 wrote for the same requests."""

from __future__ import annotations

from odradek.protocol.batches.records import RecordBatch
from odradek.protocol.stored.coordinator_records import TransactionLogValue
from tests.broker.harness import START_MS, World
from tests.broker.transactions.producer import Producer

EXPIRATION_MS = 604_800_000


def batches(world: World, topic: str, key: str) -> list[RecordBatch]:
    partition = world.cluster.coordinator_log.partition(key, topic)
    assert partition is not None
    return [RecordBatch(view) for view in partition.log.batches(0, partition.log.end_offset)]


def states(world: World) -> list[str]:
    """Returns previous id/epoch, status, timeout, partitions and the client's version of transactions, as text."""
    shown = []
    for batch in batches(world, "__transaction_state", "x"):
        (record,) = batch.records()
        assert record.key == b"\0\0\0\1x"
        if record.value is None:
            shown.append("tombstone")
            continue
        assert record.value[:2] == b"\0\1"
        value = TransactionLogValue.decode(1, record.value[2:])
        assert (value.previous_producer_id, value.next_producer_id) == (value.producer_id, -1)
        assert (value.transaction_last_update_timestamp_ms, value.transaction_start_timestamp_ms) in ((START_MS, START_MS), (START_MS, -1))
        parts = value.transaction_partitions
        names = "none" if parts is None else [f"{each.topic} {each.partition_ids}" for each in parts]
        shown.append(
            f"{value.producer_epoch} {value.transaction_status} {value.transaction_timeout_ms} {names} {value.client_transaction_version}"
        )
    return shown


def test_transaction_record_of_both_versions() -> None:
    world = World(settings={"offsets.topic.num.partitions": "1"})
    world.cluster.topics.create("t", assignments=[[1], [1]])
    producer = Producer(world)
    assert producer.write(b"v") == 0
    assert producer.commit_offset(5) == 0
    for commit in (True, False):
        answer = producer.end(commit=commit)
        assert answer.error_code == 0
        producer.epoch = answer.producer_epoch
    producer.epoch = producer.init(4, timeout_ms=50_000).producer_epoch
    assert producer.add(3, {"t": [0, 1]}) == [0, 0]
    assert producer.end(commit=False, version=4).error_code == 0
    producer.epoch = producer.init(4).producer_epoch
    assert producer.add(3, {"t": [0, 1]}) == [0, 0]
    assert producer.init(5).error_code == 51
    assert producer.init(5).error_code == 0
    assert states(world) == [
        "0 0 60000 none 0",
        "0 1 60000 ['t [0]'] 2",
        "0 1 60000 ['t [0]', '__consumer_offsets [0]'] 2",
        "1 2 60000 ['t [0]', '__consumer_offsets [0]'] 2",
        "1 4 60000 [] 2",
        "2 3 60000 [] 2",
        "2 5 60000 [] 2",
        "3 0 50000 none 2",
        "3 1 50000 ['t [0, 1]'] 0",
        "3 3 50000 ['t [0, 1]'] 0",
        "3 5 50000 [] 0",
        "4 0 60000 none 0",
        "4 1 60000 ['t [0, 1]'] 0",
        "5 3 60000 ['t [0, 1]'] 2",
        "5 5 60000 [] 2",
        "6 0 60000 none 2",
    ]


def test_tombstone_of_expired_id_is_written() -> None:
    world = World()
    Producer(world)
    world.advance(EXPIRATION_MS)
    assert states(world) == ["0 0 60000 none 0", "tombstone"]


def test_transaction_record_before_version_1_has_no_tags() -> None:
    world = World()
    world.cluster.features.levels["transaction.version"] = 0
    producer = Producer(world)
    (batch,) = batches(world, "__transaction_state", "x")
    (record,) = batch.records()
    value = TransactionLogValue.decode(0, (record.value or b"")[2:])
    assert (record.value or b"")[:2] == b"\0\0"
    assert (value.producer_id, value.producer_epoch, value.transaction_partitions) == (producer.id, 0, None)


def test_offsets_are_transactional_batches_and_marker() -> None:
    world = World(settings={"offsets.topic.num.partitions": "1"})
    world.cluster.topics.create("t", assignments=[[1]])
    producer = Producer(world)
    for offset in (5, 6):
        assert producer.commit_offset(5, offset) == 0
    partition = world.cluster.topics["__consumer_offsets"].partitions[0]
    assert (partition.last_stable_offset, partition.high_watermark) == (0, 2)
    assert producer.end(commit=True).error_code == 0
    assert partition.last_stable_offset == 3
    headers = [batch.header for batch in batches(world, "__consumer_offsets", "g")]
    shown = [(header.attributes, header.producer_epoch, header.base_sequence, header.is_control) for header in headers]
    assert shown == [(0x10, 0, 0, False), (0x10, 0, 0, False), (0x30, 1, -1, True)]
