"""ShareFetch and ShareAcknowledge: sessions, acquisition, every type of acknowledgement over every shape of range, and limits.

A topic has the batches 0-4, 5-9 and 10-14. After most scripts a second member fetches what is left, and the stored state is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..case import Case, Disconnect, Pause, Receive, Send, Step, Topic
from ..requests import batch_of, delete_records, produce
from ..share_requests import STATE_TOPIC, Range, acknowledge, fetch, initialize, read_state

FIVE = batch_of(b"a", b"b", b"c", b"d", b"e")
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
RENEWAL: dict[str, Any] = {"max_records": 0, "max_bytes": 0, "max_wait_ms": 0, "min_bytes": 0, "is_renew_ack": True}
"""The limits of a ShareFetch that renews."""
RELEASED = Pause(50)
"""Kafka ends a session before the records of its member are released."""
SHAPES: dict[str, list[tuple[int, int]]] = {
    "all": [(0, 14)],
    "batch": [(0, 4)],
    "batches": [(0, 4), (5, 9), (10, 14)],
    "beginning": [(0, 2)],
    "middle": [(1, 3)],
    "end": [(12, 14)],
    "across": [(3, 11)],
    "parts": [(0, 1), (3, 6), (14, 14)],
    "first": [(0, 0)],
    "touching": [(0, 3), (3, 5)],
    "beyond": [(10, 15)],
    "behind": [(15, 19)],
    "huge": [(0, 10**9)],
    "before": [(-3, -1)],
    "negative": [(-2, 2)],
    "reversed": [(4, 0)],
    "descending": [(5, 9), (0, 4)],
    "nothing": [],
}


def cases() -> Iterator[Case]:
    yield from _shapes()
    yield from _types()
    yield from _sessions()
    yield from _refused()
    yield from _acquisition()
    yield from _deliveries()
    yield from _members()
    yield from _log()


def case(name: str, *steps: Step, batches: int = 3, start_offset: int = 0, partitions: int = 1) -> Case:
    """Returns a case with a topic of its own, whose name is `$` in the steps of `_on`."""
    topic = Topic(f"share_records.{name}", {}, ((1,),) * partitions)
    filled = [produce(topic.name, FIVE) for _ in range(batches)]
    return Case(topic.name, (topic, STATE_TOPIC), steps, (*filled, initialize(topic.name, start_offset)))


def _topic(name: str) -> str:
    return f"share_records.{name}"


def _rest(topic: str) -> tuple[Step, ...]:
    """Returns what a second member gets, and the stored state."""
    return fetch(0, topic, member="m2"), read_state(topic)


def _ranges(shape: str, *types: int) -> list[Range]:
    return [(first, last, types) for first, last in SHAPES[shape]]


def _shapes() -> Iterator[Case]:
    for shape in SHAPES:
        for kind in (GAP, ACCEPT, RELEASE, REJECT, RENEW):
            for way in ("separate", "piggy-backed"):
                name = f"shape.{shape}.{kind}.{way}"
                topic, acks = _topic(name), {_topic(name): _ranges(shape, kind)}
                renews = kind == RENEW
                if way == "separate":
                    decided: Send = acknowledge(1, acks, renews=renews)
                else:
                    decided = fetch(1, acks=acks, **(RENEWAL if renews else {}))
                yield case(name, fetch(0, topic), decided, *_rest(topic))


def _types() -> Iterator[Case]:
    """Types for single offsets, wrong numbers of types, and types that do not exist."""
    lists: dict[str, tuple[int, int, list[int]]] = {
        "each": (0, 4, [ACCEPT, RELEASE, REJECT, GAP, ACCEPT]),
        "each-across": (3, 7, [ACCEPT, ACCEPT, RELEASE, RELEASE, REJECT]),
        "same": (0, 4, [ACCEPT] * 5),
        "all-released": (0, 4, [RELEASE] * 5),
        "too-few": (0, 4, [ACCEPT, ACCEPT]),
        "too-many": (0, 1, [ACCEPT] * 5),
        "none": (0, 4, []),
        "unknown": (0, 4, [5]),
        "negative": (0, 4, [-1]),
        "one-unknown": (0, 4, [ACCEPT, ACCEPT, 9, ACCEPT, ACCEPT]),
        "renew-without": (0, 4, [RENEW]),
        "huge": (0, 10**9, [ACCEPT, ACCEPT]),
        "largest": (0, 2**63 - 1, [ACCEPT]),
    }
    for name, acknowledged in lists.items():
        for version in (1, 2):
            full = f"types.{name}.v{version}"
            topic = _topic(full)
            yield case(full, fetch(0, topic, version=version), acknowledge(1, {topic: [acknowledged]}, version=version), *_rest(topic))
    for name, acks in {
        "renew-and-accept": [(0, 4, [RENEW]), (5, 9, [ACCEPT])],
        "renew-some": [(0, 4, [RENEW, RENEW, ACCEPT, RELEASE, RENEW])],
        "renew-then-fails": [(0, 4, [RENEW]), (5, 20, [ACCEPT])],
    }.items():
        topic = _topic(f"types.{name}")
        yield case(f"types.{name}", fetch(0, topic), acknowledge(1, {topic: acks}, renews=True), *_rest(topic))
    for name, first, second in (
        ("accept-again", ACCEPT, ACCEPT),
        ("accept-released", RELEASE, ACCEPT),
        ("release-accepted", ACCEPT, RELEASE),
        ("accept-rejected", REJECT, ACCEPT),
        ("renew-released", RELEASE, RENEW),
        ("accept-renewed", RENEW, ACCEPT),
    ):
        for shape in ("all", "batch", "middle", "end"):
            full = f"twice.{name}.{shape}"
            topic = _topic(full)
            steps = [acknowledge(n, {topic: _ranges(shape, kind)}, renews=kind == RENEW) for n, kind in ((1, first), (2, second))]
            yield case(full, fetch(0, topic), *steps, *_rest(topic))
    for shape in ("batch", "middle", "across"):
        full = f"fails-together.{shape}"
        topic = _topic(full)
        ranges: list[Range] = [*_ranges(shape, ACCEPT), (12, 30, [ACCEPT])]
        yield case(full, fetch(0, topic), acknowledge(1, {topic: ranges}), acknowledge(2, {topic: _ranges("all", ACCEPT)}), *_rest(topic))


def _sessions() -> Iterator[Case]:
    for version in (1, 2):
        for epoch in (-2, -1, 1, 2, 2**31 - 1):
            full = f"session.v{version}.none.{epoch}"
            topic = _topic(full)
            yield case(
                full,
                fetch(epoch, topic, member="stranger", version=version),
                acknowledge(epoch, {topic: _ranges("batch", ACCEPT)}, member="stranger", version=version),
            )
        for epoch in (-2, -1, 0, 2, 5):
            full = f"session.v{version}.open.{epoch}"
            topic = _topic(full)
            opened = fetch(0, topic, version=version, max_records=5)
            yield case(full, opened, fetch(epoch, topic, version=version), fetch(1, topic, version=version), *_rest(topic))
            full = f"session.v{version}.acknowledge.{epoch}"
            topic = _topic(full)
            acked = acknowledge(epoch, {topic: _ranges("batch", ACCEPT)}, version=version)
            yield case(
                full,
                fetch(0, topic, version=version),
                acked,
                acknowledge(1, {topic: _ranges("end", ACCEPT)}, version=version),
                *_rest(topic),
            )
    name = "session.first-with-acknowledgements"
    yield case(name, fetch(0, acks={_topic(name): _ranges("batch", ACCEPT)}), fetch(1, _topic(name)))
    ends: dict[str, Callable[[str], Send]] = {
        "fetch": lambda topic: fetch(-1, acks={topic: _ranges("batch", ACCEPT)}),
        "fetch-nothing": lambda topic: fetch(-1),
        "acknowledge": lambda topic: acknowledge(-1, {topic: _ranges("batch", ACCEPT)}),
        "acknowledge-nothing": lambda topic: acknowledge(-1, {}),
    }
    for way, last in ends.items():
        name = f"session.closed.{way}"
        topic = _topic(name)
        yield case(name, fetch(0, topic), last(topic), fetch(1, topic), *_rest(topic))
    name = "session.replaced"
    yield case(name, fetch(0, _topic(name), max_records=5), fetch(0, _topic(name)), fetch(1, _topic(name)), read_state(_topic(name)))
    name = "session.without-topics"
    topic = _topic(name)
    yield case(
        name, fetch(0), fetch(1, topic), fetch(2, forget=[topic]), fetch(3), acknowledge(4, {topic: _ranges("all", ACCEPT)}), *_rest(topic)
    )
    name = "session.disconnected"
    topic = _topic(name)
    yield case(name, fetch(0, topic), Disconnect("m1"), fetch(0, topic, member="m2"), fetch(1, topic, connection="m2"), read_state(topic))
    name = "session.other-connection"
    topic = _topic(name)
    yield case(
        name,
        fetch(0, topic, max_records=5),
        fetch(1, topic, connection="other"),
        Disconnect("m1"),
        fetch(2, topic, connection="other"),
        *_rest(topic),
    )
    name = "session.same-connection"
    topic = _topic(name)
    both = [fetch(0, topic, max_records=5, connection="c"), fetch(0, topic, member="m2", connection="c")]
    yield case(name, *both, Disconnect("c"), fetch(0, topic, member="m3"), fetch(1, member="m1", connection="d"), read_state(topic))


def _refused() -> Iterator[Case]:
    identities: dict[str, dict[str, Any]] = {
        "no-group": {"group": None},
        "empty-group": {"group": ""},
        "other-group": {"group": "uninitialized"},
        "no-member": {"member": None},
        "empty-member": {"member": ""},
        "long-member": {"member": "m" * 37},
        "longest-member": {"member": "m" * 36},
    }
    for name, fields in identities.items():
        for version in (1, 2):
            full = f"refused.{name}.v{version}"
            topic = _topic(full)
            ack = acknowledge(1, {topic: _ranges("batch", ACCEPT)}, version=version, connection="c", **fields)
            yield case(full, fetch(0, topic, version=version, connection="c", **fields), ack)
    wrong: dict[str, dict[str, Any]] = {
        "max-records.0": {"max_records": 0},
        "max-records.-1": {"max_records": -1},
        "max-bytes.0": {"max_bytes": 0},
        "max-bytes.1": {"max_bytes": 1},
        "min-bytes.0": {"min_bytes": 0},
        "min-bytes.-1": {"min_bytes": -1},
        "min-bytes.many": {"min_bytes": 1 << 19},
        "acquire-mode.2": {"share_acquire_mode": 2},
        "acquire-mode.-1": {"share_acquire_mode": -1},
    }
    for name, limits in wrong.items():
        topic = _topic(f"limits.{name}")
        yield case(f"limits.{name}", fetch(0, topic, max_records=5), fetch(1, topic, **limits), fetch(2, topic), read_state(topic))
    for name in ("max_records", "max_bytes", "max_wait_ms", "min_bytes"):
        topic = _topic(f"renewal.{name}")
        yield case(
            f"renewal.{name}", fetch(0, topic), fetch(1, topic, **RENEWAL | {name: 1}), fetch(1, topic, **RENEWAL), read_state(topic)
        )
    for name, partitions in {"missing": (7,), "negative": (-1,), "and-missing": (0, 7), "twice": (0, 0)}.items():
        topic = _topic(f"partition.{name}")
        yield case(
            f"partition.{name}",
            fetch(0, topic, partitions=partitions),
            fetch(1, topic, partitions=partitions),
            acknowledge(2, {topic: _ranges("batch", ACCEPT)}, partition=partitions[-1]),
            read_state(topic),
        )
    for name in ("unknown", "and-unknown"):
        topics = ["nobody"] if name == "unknown" else ["nobody", _topic(f"topic.{name}")]
        full = f"topic.{name}"
        ack = acknowledge(2, {topic: _ranges("batch", ACCEPT) for topic in topics})
        yield case(full, fetch(0, *topics), fetch(1, *topics), ack, fetch(3, acks={topic: _ranges("end", ACCEPT) for topic in topics}))
    name = "leader.other-node"
    topic = _topic(name)
    moved = acknowledge(1, {topic: _ranges("batch", ACCEPT)}, node=2)
    yield case(name, fetch(0, topic, node=2), moved, fetch(2, node=2), fetch(3, acks={topic: _ranges("batch", ACCEPT)}, node=2))
    name = "leader.some-partitions"
    topic = _topic(name)
    filled = produce(topic, FIVE), initialize(topic), initialize(topic, partition=1)
    steps = fetch(0, topic, partitions=(0, 1)), fetch(1), read_state(topic)
    yield Case(topic, (Topic(topic, {}, ((1,), (2,))), STATE_TOPIC), steps, filled)


def _acquisition() -> Iterator[Case]:
    for mode in (0, 1):
        for most in (1, 3, 5, 6, 10, 14, 15, 16):
            full = f"acquire.mode-{mode}.{most}"
            topic = _topic(full)
            more = fetch(1, acks={topic: [(0, 0, [RELEASE])]}, max_records=most, share_acquire_mode=mode)
            yield case(full, fetch(0, topic, max_records=most, share_acquire_mode=mode), more, *_rest(topic))
    for size in (-1, 1, 4, 5, 6, 9, 10, 11, 100):
        topic = _topic(f"acquire.batch-size.{size}")
        yield case(
            f"acquire.batch-size.{size}",
            fetch(0, topic, batch_size=size),
            acknowledge(1, {topic: _ranges("across", ACCEPT)}),
            *_rest(topic),
        )
    for start in (0, 3, 5, 14, 15, 16):
        topic = _topic(f"acquire.from.{start}")
        yield case(f"acquire.from.{start}", fetch(0, topic), fetch(1, topic), *_rest(topic), start_offset=start)
    for size in (1, 72, 95, 96, 200, 288, 300):
        topic = _topic(f"acquire.bytes.{size}")
        yield case(f"acquire.bytes.{size}", fetch(0, topic, max_bytes=size), *_rest(topic))
    name = "acquire.produced-later"
    topic = _topic(name)
    waits = fetch(1, topic, waits=True, max_wait_ms=5000)
    yield case(name, fetch(0, topic), waits, produce(topic, FIVE), Receive("m1"), read_state(topic))
    name = "acquire.released-later"
    topic = _topic(name)
    waits = fetch(0, topic, member="m2", waits=True, max_wait_ms=1000)
    yield case(name, fetch(0, topic), waits, acknowledge(1, {topic: _ranges("middle", RELEASE)}), Receive("m2"), read_state(topic))
    name = "acquire.left-later"
    topic = _topic(name)
    yield case(
        name,
        fetch(0, topic),
        waits._replace(payload=fetch(0, topic, member="m2", max_wait_ms=1000).payload),
        acknowledge(-1, {}),
        Receive("m2"),
        read_state(topic),
    )


def _deliveries() -> Iterator[Case]:
    """Records that are released again and again, until they are isolated and archived."""
    for shape, mode in ((shape, mode) for shape in ("all", "batch", "middle", "first", "across") for mode in (0, 1)):
        full = f"deliveries.{shape}.mode-{mode}"
        topic = _topic(full)
        steps = [fetch(0, topic)]
        for epoch in range(1, 17):
            steps.append(fetch(epoch, acks={topic: _ranges(shape, RELEASE)} if epoch % 2 else None, share_acquire_mode=mode))
        yield case(full, *steps, read_state(topic))
    for size in (1, 2):
        full = f"deliveries.whole.{size}"
        topic = _topic(full)
        again = [step for _ in range(12) for step in (fetch(0, topic), acknowledge(-1, {}), RELEASED)]
        yield case(full, *again, read_state(topic), batches=size)


def _members() -> Iterator[Case]:
    for kind in (ACCEPT, RELEASE, RENEW):
        for shape in ("batch", "middle", "all"):
            full = f"members.{kind}.{shape}"
            topic = _topic(full)
            others = acknowledge(1, {topic: _ranges(shape, kind)}, member="m2", renews=kind == RENEW)
            yield case(full, fetch(0, topic, max_records=5), fetch(0, topic, member="m2"), others, fetch(1, topic), read_state(topic))
    full = "members.shared"
    topic = _topic(full)
    yield case(
        full,
        fetch(0, topic, max_records=5),
        fetch(0, topic, member="m2", max_records=5),
        acknowledge(1, {topic: [(0, 4, [ACCEPT])]}),
        acknowledge(1, {topic: [(5, 6, [RELEASE])]}, member="m2"),
        fetch(2, topic),
        acknowledge(-1, {}, member="m2"),
        fetch(3, topic, acks={topic: [(10, 14, [REJECT])]}),
        read_state(topic),
    )
    full = "members.two-groups"
    topic = _topic(full)
    yield case(full, initialize(topic, group="second"), fetch(0, topic), fetch(0, topic, group="second", connection="s"), read_state(topic))


def _log() -> Iterator[Case]:
    """Records that DeleteRecords removes while they are in flight."""
    for offset in (3, 5, 7, 15):
        for kind in (ACCEPT, RELEASE):
            full = f"deleted.{offset}.{kind}"
            topic = _topic(full)
            after = acknowledge(1, {topic: _ranges("all", kind)})
            yield case(full, fetch(0, topic), delete_records(topic, offset), after, fetch(2), fetch(3), *_rest(topic))
        full = f"deleted.available.{offset}"
        topic = _topic(full)
        released = acknowledge(1, {topic: _ranges("parts", RELEASE)})
        yield case(full, fetch(0, topic), released, delete_records(topic, offset), fetch(2), fetch(3), acknowledge(-1, {}), *_rest(topic))
    full = "deleted.before-the-first-fetch"
    topic = _topic(full)
    yield case(full, delete_records(topic, 7), fetch(0, topic), fetch(1), fetch(2), *_rest(topic))
    full = "version.changes"
    topic = _topic(full)
    yield case(
        full, fetch(0, topic, version=1), fetch(1, topic, version=2), fetch(2, topic, version=1, acks={topic: _ranges("all", ACCEPT)})
    )
