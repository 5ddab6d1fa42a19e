"""Acquisition locks that expire, records of transactions, and the limit of records in flight. A lock lasts a second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS

from ..case import Case, Pause, Receive, Send, Step, Topic
from ..requests import batch_of, produce, request_of
from ..share_requests import STATE_TOPIC, acknowledge, fetch, initialize, read_state
from ..transaction_requests import SETTLED, Producer

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
    by_record: dict[str, Any] = {"share_acquire_mode": 1, "max_records": 3}
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
    """Records of open, committed and aborted transactions, at both isolation levels.

    The broker sets the timestamps, because Kafka would begin a segment where they jump, and a fetch reads one segment.
    """
    for isolation in ("read_committed", "read_uncommitted"):
        for outcome in ("committed", "aborted", "open", "crossed"):
            name = f"transaction.{outcome}.{isolation}"
            topic, group = Topic(_topic(name), {"message.timestamp.type": "LogAppendTime"}, ((1,),)), f"group.{name}"
            before = (*_written(Producer(topic.name), outcome), _isolation(group, isolation), initialize(topic.name, group=group))
            steps = (
                fetch(0, topic.name, group=group),
                fetch(1, acks={topic.name: [(0, 4, [ACCEPT])]}, group=group),
                fetch(0, topic.name, member="m2", group=group),
                read_state(topic.name, group=group),
                acknowledge(-1, {}, group=group),
                fetch(1, member="m2", group=group),
                read_state(topic.name, group=group),
            )
            yield Case(topic.name, (topic, STATE_TOPIC), steps, before)


def _isolation(group: str, level: str) -> Send:
    configs = [{"name": "share.isolation.level", "config_operation": 0, "value": level}]
    resource = {"resource_type": 32, "resource_name": group, "configs": configs}
    request = request_of(INCREMENTAL_ALTER_CONFIGS, {"resources": [resource], "validate_only": False})
    return Send(INCREMENTAL_ALTER_CONFIGS, 1, request, settles=True)


def _written(producer: Producer, outcome: str) -> list[Step]:
    """Returns plain records, those of a transaction, plain ones, the end of the transaction unless it stays open, and plain ones."""
    plain = produce(producer.topic, FIVE)
    other = producer._replace(name="b")
    crossing: list[Step] = [other.init(5), other.write(12), other.end(5, commit=True), SETTLED] if outcome == "crossed" else []
    end: list[Step] = [] if outcome == "open" else [producer.end(5, commit=outcome == "committed"), SETTLED]
    return [plain, producer.init(5), producer.write(12), plain, *crossing, *end, plain]
