"""Acquisition locks that expire, records of transactions, and the limit of records in flight. A lock lasts a second."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.messages.write_txn_markers import WRITE_TXN_MARKERS

from ..case import Case, Pause, Receive, Send, Step, Topic
from ..requests import batch_of, produce, request_of
from ..share_requests import STATE_TOPIC, acknowledge, fetch, initialize, read_state

SETTINGS = {
    "group.share.record.lock.duration.ms": "1000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.partition.max.record.locks": "100",
    "share.coordinator.state.topic.num.partitions": "1",
}
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
FIVE = batch_of(b"a", b"b", b"c", b"d", b"e")
EXPIRED = Pause(1500)
HALF = Pause(700)


def cases() -> Iterator[Case]:
    yield from _expired()
    yield from _full()
    yield from _transactions()


def case(name: str, *steps: Step, batches: int = 2, batch: bytes = FIVE, group: str = "share") -> Case:
    topic = Topic(_topic(name), {}, ((1,),))
    filled = [produce(topic.name, batch) for _ in range(batches)]
    return Case(topic.name, (topic, STATE_TOPIC), steps, (*filled, initialize(topic.name, group=group)))


def _topic(name: str) -> str:
    return f"share_locks.{name}"


def _expired() -> Iterator[Case]:
    for kind in (GAP, ACCEPT, RELEASE, REJECT):
        for shape, ranges in {"all": [(0, 9)], "batch": [(0, 4)], "middle": [(2, 6)], "single": [(3, 3)]}.items():
            name = f"expired.{shape}.{kind}"
            topic = _topic(name)
            late = acknowledge(1, {topic: [(*each, [kind]) for each in ranges]})
            yield case(name, fetch(0, topic), EXPIRED, late, fetch(0, topic, member="m2"), read_state(topic))
            name = f"some-decided.{shape}.{kind}"
            topic = _topic(name)
            early = acknowledge(1, {topic: [(*each, [kind]) for each in ranges]})
            yield case(name, fetch(0, topic), early, EXPIRED, fetch(0, topic, member="m2"), read_state(topic))
    for shape, ranges in {"all": [(0, 9)], "batch": [(0, 4)], "middle": [(2, 6)]}.items():
        name = f"renewed.{shape}"
        topic = _topic(name)
        renewed = acknowledge(1, {topic: [(*each, [RENEW]) for each in ranges]}, renews=True)
        again = fetch(0, topic, member="m2", max_wait_ms=50)
        yield case(
            name, fetch(0, topic), HALF, renewed, HALF, again, read_state(topic), HALF, fetch(1, topic, member="m2"), read_state(topic)
        )
    name = "expired.waiting"
    topic = _topic(name)
    waits = fetch(0, topic, member="m2", waits=True, max_wait_ms=5000)
    yield case(name, fetch(0, topic), waits, Receive("m2"), read_state(topic))
    name = "expired.until-archived"
    topic = _topic(name)
    steps: list[Step] = [fetch(0, topic)]
    for epoch in range(1, 6):
        steps += [EXPIRED, fetch(epoch, topic)]
    yield case(name, *steps, EXPIRED, read_state(topic), batches=1)
    name = "expired.by-record"
    topic = _topic(name)
    by_record = {"share_acquire_mode": 1, "max_records": 3}
    yield case(name, fetch(0, topic, **by_record), EXPIRED, fetch(1, topic, **by_record), fetch(2, topic), read_state(topic))


def _full() -> Iterator[Case]:
    """At most 100 records are in flight."""
    many = batch_of(*[b"v"] * 30)
    for name, steps in {
        "nothing": [],
        "first-accepted": [[(0, 29, [ACCEPT])]],
        "middle-accepted": [[(30, 59, [ACCEPT])]],
        "middle-released": [[(30, 39, [RELEASE])]],
        "last-released": [[(115, 119, [RELEASE])]],
        "all-accepted": [[(0, 119, [ACCEPT])]],
    }.items():
        for mode in (0, 1):
            full = f"full.{name}.mode-{mode}"
            topic = _topic(full)
            acks = [acknowledge(2 + number, {topic: ranges}) for number, ranges in enumerate(steps)]
            more = [fetch(2 + len(acks) + number, topic, share_acquire_mode=mode) for number in range(2)]
            first = [fetch(0, topic, share_acquire_mode=mode), fetch(1, topic, share_acquire_mode=mode)]
            yield case(full, *first, *acks, *more, read_state(topic), batches=6, batch=many)


def _transactions() -> Iterator[Case]:
    """Records of open, committed and aborted transactions, at both isolation levels."""
    for isolation in ("read_committed", "read_uncommitted"):
        for outcome in ("committed", "aborted", "open"):
            name = f"transaction.{outcome}.{isolation}"
            topic, group = Topic(_topic(name), {}, ((1,),)), f"group.{name}"
            configs = [{"name": "share.isolation.level", "config_operation": 0, "value": isolation}]
            config = request_of(
                INCREMENTAL_ALTER_CONFIGS,
                {"resources": [{"resource_type": 32, "resource_name": group, "configs": configs}], "validate_only": False},
            )
            written = [
                produce(topic.name, FIVE),
                _transactional(topic.name, 0),
                produce(topic.name, FIVE),
                *([] if outcome == "open" else [_marker(topic.name, committed=outcome == "committed")]),
                produce(topic.name, FIVE),
            ]
            before = (*written, Send(INCREMENTAL_ALTER_CONFIGS, 1, config, settles=True), initialize(topic.name, group=group))
            steps = (
                fetch(0, topic.name, group=group),
                fetch(1, acks={topic.name: [(0, 4, [ACCEPT])]}, group=group),
                fetch(0, topic.name, member="m2", group=group),
                read_state(topic.name, group=group),
            )
            yield Case(topic.name, (topic, STATE_TOPIC), steps, before)


PRODUCER_ID = 4_000_000


def _transactional(topic: str, sequence: int) -> Send:
    batch = batch_of(b"x", b"y", b"z", producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=sequence, is_transactional=True)
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
    return Send(PRODUCE, 9, ProduceRequest(transactional_id="share", acks=-1, timeout_ms=1000, topic_data=[data]))


def _marker(topic: str, *, committed: bool) -> Send:
    marker = {
        "producer_id": PRODUCER_ID,
        "producer_epoch": 0,
        "transaction_result": committed,
        "topics": [{"name": topic, "partition_indexes": [0]}],
        "coordinator_epoch": 0,
    }
    return Send(WRITE_TXN_MARKERS, 1, request_of(WRITE_TXN_MARKERS, {"markers": [marker]}))
