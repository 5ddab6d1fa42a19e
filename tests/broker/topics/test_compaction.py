"""Compaction, compared with what Apache Kafka 4.3.1 left of the same batches, and with a dict of the last values by key."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.topics import compaction
from odradek.broker.transactions.transaction import Marker, Producer
from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import DELETE_HORIZON_BIT, LOG_APPEND_TIME, Record, RecordBatch
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.produce import PRODUCE
from odradek.storage.producers import LastRecord
from odradek.storage.transaction_index import EndedTransaction
from tests.broker.harness import START_MS, World, produce_request

COMPACT = {"cleanup.policy": "compact", "internal.segment.bytes": "500", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "4000"}
LARGE = (b"z", bytes(400))  # almost fills a segment
NONE_ABORTED = compaction.Aborted([])
Pair = tuple[bytes | None, bytes | None]


class Compacted:
    """A compacted topic of one partition."""

    def __init__(self, **configs: str) -> None:
        self.world = World(nodes=1)
        self.world.cluster.topics.create("t", 1, configs=COMPACT | configs)
        self.partition = self.world.cluster.topics["t"].partitions[0]

    def produce(self, *pairs: Pair, timestamp: int = START_MS, **options: Any) -> None:
        records = [Record(offset, timestamp + offset, key, value, [("h", b"1")]) for offset, (key, value) in enumerate(pairs)]
        request = produce_request("t", bytes(build_batch(records, **options)))
        (answer,) = self.world.client().call(PRODUCE, 9, request).responses[0].partition_responses
        assert answer.error_code == 0, answer

    def batches(self) -> list[RecordBatch]:
        log = self.partition.log
        found = [RecordBatch(view) for view in log.batches(log.start_offset, log.end_offset)]
        assert all(batch.crc_valid() for batch in found)
        return found

    def records(self) -> list[tuple[int, bytes | None, bytes | None]]:
        return [(record.offset, record.key, record.value) for batch in self.batches() for record in batch.records()]

    def compact(self, now: bool = False) -> None:
        self.world.cluster.log_cleaner.compact(now=now)


def test_compact_leaves_the_batches_of_kafka() -> None:
    topic = Compacted()
    topic.produce((b"a", b"1"), (b"b", b"1"), (b"c", b"1"))
    topic.produce((b"a", b"2"), (b"a", b"3"), timestamp=START_MS + 10)
    topic.produce((b"b", None), (b"d", b"1"), timestamp=START_MS + 20, compression=Compression.GZIP)
    topic.produce((b"a", b"4"), timestamp=START_MS + 30, producer_id=5000, producer_epoch=0, base_sequence=0)
    topic.produce((b"a", b"5"), (b"e", b"1"), timestamp=START_MS + 30)
    topic.produce(LARGE)
    topic.produce(LARGE)
    before = topic.batches()
    topic.compact()
    horizon = START_MS + 4000

    def shown(batch: RecordBatch) -> tuple[Any, ...]:
        header = batch.header
        pairs = [(record.offset, record.timestamp - START_MS, record.key, record.value) for record in batch.records()]
        fixed = (header.base_offset, header.last_offset_delta, hex(header.attributes))
        return (*fixed, header.base_timestamp, header.max_timestamp - START_MS, header.producer_id, header.base_sequence, pairs)

    left = topic.batches()
    assert [shown(batch) for batch in left[:4]] == [
        (0, 2, "0x0", START_MS + 2, 2, -1, -1, [(2, 2, b"c", b"1")]),
        (5, 1, "0x41", horizon, 21, -1, -1, [(5, 20, b"b", None), (6, 21, b"d", b"1")]),
        (7, 0, "0x0", -1, 30, 5000, 0, []),
        (8, 1, "0x0", START_MS + 30, 31, -1, -1, [(8, 30, b"a", b"5"), (9, 31, b"e", b"1")]),
    ]
    assert bytes(left[3].view) == bytes(before[4].view)
    assert left[2].header.size == 61
    assert [record.headers for record in left[0].records()] == [[("h", b"1")]]
    assert topic.partition.log.end_offset == 12
    # Tombstones stay for delete.retention.ms from the first pass on. The first pass after that removes them.
    topic.produce(LARGE)
    topic.world.advance(3999)
    topic.compact(now=True)
    assert (5, b"b", None) in topic.records()
    topic.produce(LARGE)
    topic.world.advance(1)
    topic.compact(now=True)
    assert (5, b"b", None) not in topic.records()
    second = topic.batches()[1].header
    assert (second.base_offset, second.last_offset_delta, second.delete_horizon_ms, second.records_count) == (5, 1, horizon, 1)


def test_last_batch_of_a_pass_stays_empty() -> None:
    topic = Compacted()
    topic.produce((b"a", b"1"))
    topic.produce((b"a", b"2"), LARGE)
    topic.produce((b"a", b"3"), LARGE)
    topic.produce(LARGE)
    topic.compact()
    headers = [(batch.header.base_offset, batch.header.last_offset, batch.header.records_count) for batch in topic.batches()]
    assert headers == [(3, 4, 2), (5, 5, 1)]


def test_log_append_time_survives_a_rewrite() -> None:
    topic = Compacted(**{"message.timestamp.type": "LogAppendTime"})
    topic.produce((b"a", b"1"), (b"b", b"1"))
    topic.produce((b"a", b"2"), LARGE)
    topic.produce(LARGE)
    topic.world.advance(77)
    topic.compact()
    first = topic.batches()[0]
    assert first.header.timestamp_type == LOG_APPEND_TIME
    assert [(record.offset, record.timestamp) for record in first.records()] == [(1, START_MS)]


def test_keyless_records_are_removed_and_markers_stay() -> None:
    latest = {b"a": 3}
    compactor = compaction.Compactor(latest, NONE_ABORTED, -1, {}, START_MS, 1000)
    keyless = memoryview(build_batch([Record(0, START_MS, None, b"1", [])]))
    assert compactor.rewrite(RecordBatch(keyless)) is None
    options: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "is_transactional": True}
    within = memoryview(build_batch([Record(0, START_MS, b"a", b"1", [])], base_sequence=0, **options))
    assert compactor.rewrite(RecordBatch(within)) is None
    control = memoryview(build_batch([Record(0, START_MS, b"\0\0\0\1", b"\0\0\0\0\0\0", [])], is_control=True, **options))
    control_batch = RecordBatch(control)
    assert compactor.rewrite(control_batch) is control_batch.view
    latest_offsets = compaction.LastOffsets(NONE_ABORTED)
    for view in (keyless, control):
        latest_offsets.add(RecordBatch(view))
    assert latest_offsets.offsets == {}


def test_aborted_records_are_removed_and_supersede_nothing() -> None:
    topic = Compacted()
    topic.produce((b"a", b"1"))
    log, producers = topic.partition.log, topic.partition.producers
    for number, (key, committed) in enumerate([(b"a", False), (b"b", True)]):
        offset = log.end_offset
        records = [Record(0, START_MS, key, b"2", [])]
        batch = build_batch(records, producer_id=7, producer_epoch=0, base_sequence=number, is_transactional=True)
        log.append(memoryview(batch), 0, owned=False)
        producers.record(7, 0, number, number, offset, offset, START_MS, START_MS, transactional=True)
        topic.partition.append_marker(Marker(Producer(7, 0), 0, committed, False), START_MS)
    topic.produce(LARGE)
    topic.produce(LARGE)
    topic.compact(now=True)
    shown = [(batch.header.base_offset, batch.header.is_control, [record.key for record in batch.records()]) for batch in topic.batches()]
    assert [(offset, [] if control else keys) for offset, control, keys in shown][:4] == [(0, [b"a"]), (2, []), (3, [b"b"]), (4, [])]
    assert [control for _, control, _ in shown][:4] == [False, True, False, True]


def transaction(topic: Compacted, producer: tuple[int, int], *keys: bytes, committed: bool, v2: bool) -> None:
    """Appends one batch for each key, and the marker, which raises the epoch if `v2`."""
    log, producers = topic.partition.log, topic.partition.producers
    producer_id, epoch = producer
    for sequence, key in enumerate(keys):
        options: dict[str, Any] = {"producer_id": producer_id, "producer_epoch": epoch, "base_sequence": sequence, "is_transactional": True}
        batch = build_batch([Record(0, START_MS, key, b"v", [])], **options)
        offset = log.append(memoryview(batch), 0, owned=False)
        producers.record(producer_id, epoch, sequence, sequence, offset, offset, START_MS, START_MS, transactional=True)
    topic.partition.append_marker(Marker(Producer(producer_id, epoch + v2), 0, committed, v2), START_MS)


def test_markers_are_removed_except_each_producers_last() -> None:
    """The expected values are what Apache Kafka 4.3.1 left of the same transactions after each pass."""
    topic = Compacted()
    transaction(topic, (1, 0), b"1", b"2", committed=True, v2=False)  # 0, 1, marker 2
    transaction(topic, (2, 0), b"1", b"2", committed=True, v2=True)  # 3, 4, 5
    transaction(topic, (3, 0), b"3", b"4", committed=False, v2=False)  # 6, 7, 8
    transaction(topic, (4, 0), b"3", committed=False, v2=True)  # 9, 10
    transaction(topic, (5, 0), b"1", b"2", b"9", committed=True, v2=True)  # 11, 12, 13, 14
    transaction(topic, (5, 2), b"5", committed=False, v2=True)  # 15, 16
    transaction(topic, (5, 4), b"6", committed=True, v2=True)  # 17, 18
    transaction(topic, (1, 1), b"6", committed=True, v2=False)  # 19, 20
    producers = topic.partition.producers

    def after_a_pass() -> tuple[str, list[int]]:
        """Returns base offsets, with (n) for an empty batch and n~ for a delete horizon, and the first offsets of aborted transactions."""
        topic.produce((b"1", b"x"), LARGE)
        topic.produce(LARGE)
        topic.compact(now=True)
        shown = []
        for header in (batch.header for batch in topic.batches() if batch.header.producer_id >= 0):
            text = f"{header.base_offset}" if header.records_count else f"({header.base_offset})"
            shown.append(text + "~" * (header.delete_horizon_ms is not None))
        return " ".join(shown), [ended.first_offset for ended in producers.aborted(0, 21)]

    assert after_a_pass() == ("2 5 (7) 8 10 12 13 14 16 18 19 20", [6, 9, 15])
    assert after_a_pass() == ("2~ 5~ (7) 8 10~ 12 13 14 16~ 18~ 19 20", [6])
    topic.world.advance(4000)
    assert after_a_pass() == ("(5) (7) 8 (10) 12 13 14 (18) 19 20", [6])
    topic.world.advance(4000)
    assert after_a_pass() == ("(5) (7) 8 (10) 12 13 14 (18) 19 20", [6])
    assert [batch.header.attributes for batch in topic.batches() if batch.header.base_offset == 5] == [0x30]


def test_aborted_batch_keeps_last_sequence_of_producer() -> None:
    batch = memoryview(
        build_batch([Record(0, START_MS, b"a", b"2", [])], producer_id=7, producer_epoch=0, base_sequence=4, is_transactional=True)
    )
    aborted = compaction.Aborted([EndedTransaction(7, 0, 1, 2, False)])
    left = compaction.Compactor({}, aborted, -1, {7: LastRecord(0, 0)}, START_MS, 1000).rewrite(RecordBatch(batch))
    assert left is not None
    header = RecordBatch(left).header
    assert (header.records_count, header.base_sequence, header.is_transactional) == (0, 4, True)


def test_timestamp_lookup_skips_emptied_batches() -> None:
    topic = Compacted()
    topic.produce((b"a", b"1"), timestamp=START_MS + 500, producer_id=1, producer_epoch=0, base_sequence=0)
    topic.produce((b"a", b"2"), LARGE, timestamp=START_MS + 600)
    topic.produce(LARGE)
    topic.compact()
    assert [batch.header.records_count for batch in topic.batches()] == [0, 2, 1]
    wanted = ListOffsetsPartition(partition_index=0, timestamp=START_MS + 400)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=[wanted])])
    (answer,) = topic.world.client().call(LIST_OFFSETS, 7, request).topics[0].partitions
    assert (answer.offset, answer.timestamp) == (1, START_MS + 600)


def test_views_of_readers_are_unchanged_by_compaction() -> None:
    topic = Compacted()
    topic.produce((b"a", b"1"))
    topic.produce((b"a", b"2"), LARGE)
    topic.produce(LARGE)
    views = topic.partition.log.read(0, 1 << 20, 10, at_least_one=True)
    before = [bytes(view) for view in views]
    topic.compact()
    assert [bytes(view) for view in views] == before


keys = st.sampled_from([b"a", b"b", b"c", b"d"])
values = st.one_of(st.none(), st.binary(min_size=1, max_size=150))
pairs = st.lists(st.tuples(keys, values), min_size=1, max_size=4)
steps = st.one_of(
    st.tuples(pairs, st.sampled_from([Compression.NONE, Compression.GZIP, Compression.ZSTD]), st.booleans()), st.integers(1, 9000)
)


@given(steps=st.lists(steps, max_size=40))
def test_compaction_agrees_with_a_dict_of_last_values(steps: list[Any]) -> None:
    topic = Compacted()
    written: list[tuple[int, bytes | None, bytes | None]] = []
    sequence = 0
    for step in steps:
        if isinstance(step, int):
            topic.world.advance(step)
            before = topic.records()
            topic.compact(now=True)
            check(topic, before, written)
        else:
            entries, compression, idempotent = step
            producer = {"producer_id": 9, "producer_epoch": 0, "base_sequence": sequence} if idempotent else {}
            sequence += len(entries) * idempotent
            written += [(len(written) + offset, key, value) for offset, (key, value) in enumerate(entries)]
            topic.produce(*entries, compression=compression, **producer)


def check(topic: Compacted, before: list[Any], written: list[tuple[int, bytes | None, bytes | None]]) -> None:
    """A reader of the whole log gets the same last values, the clean part has each key once, and no removed record reappears."""
    left = topic.records()
    offsets = [offset for offset, _, _ in left]
    assert offsets == sorted(set(offsets))
    assert set(left) <= set(before)
    assert state_of(left) == state_of(written)
    clean = [key for offset, key, _ in left if offset < topic.partition.cleaned_until]
    assert len(clean) == len(set(clean))
    assert [record for record in left if record[0] >= topic.partition.cleaned_until] == [
        record for record in written if record[0] >= topic.partition.cleaned_until
    ]
    headers = [batch.header for batch in topic.batches()]
    assert all(one.last_offset < following.base_offset for one, following in pairwise(headers))
    assert topic.partition.log.end_offset == len(written)
    for header in headers:
        assert bool(header.attributes & DELETE_HORIZON_BIT) == (header.delete_horizon_ms is not None)
    last_sequences = [header.base_sequence + header.last_offset_delta for header in headers if header.producer_id == 9]
    state = topic.partition.producers._states.get(9)
    assert state is None or last_sequences[-1] == state.next_sequence - 1


def state_of(records: list[tuple[int, bytes | None, bytes | None]]) -> dict[bytes | None, bytes]:
    last = {key: value for _, key, value in records}
    return {key: value for key, value in last.items() if value is not None}
