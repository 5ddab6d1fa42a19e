"""Forms of values and records, and that the records of all classes name all attributes."""

from __future__ import annotations

import gc
import importlib
import pkgutil
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

import pytest

from odradek.broker import snapshots
from odradek.broker.groups.classic.messages import Join, Protocol
from odradek.broker.groups.consumer.heartbeat import ConsumerHeartbeat
from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.groups.share.heartbeat import ShareHeartbeat
from odradek.broker.groups.streams.heartbeat import StreamsHeartbeat
from odradek.broker.groups.streams.topology import Topology
from odradek.broker.releases.zookeeper import ZooKeeper
from odradek.broker.scheduling.waiting import Reply
from odradek.broker.security.scram_credentials import MECHANISMS
from odradek.broker.snapshots.forms import (
    KEYS,
    MOMENT,
    PLAIN,
    TUPLE,
    Form,
    Record,
    Within,
    coded,
    listed,
    mapped,
    named,
    optional,
    ordered,
)
from odradek.broker.transactions.transaction import TopicPartition
from tests.broker.harness import World, produce
from tests.fuzz.rounds import AUTHORIZER

SHIFT_MS = 1000


class Colour(Enum):
    RED = "red"


class Event(NamedTuple):
    name: str
    at_ms: int


class Inner:
    def __init__(self) -> None:
        self.numbers = [1, 2]


class Outer:
    """`inner` and `same` are one object, and `total` follows from it."""

    def __init__(self) -> None:
        self.inner = self.same = Inner()
        self.started_ms = 5
        self.total = 3


def _add_up(outer: Outer) -> None:
    outer.total = sum(outer.inner.numbers)


INNER = Record(Inner, {"numbers": listed()})
OUTER = Record(Outer, {"inner": Within(INNER), "started_ms": MOMENT}, apart=("same", "total"), make=Outer, complete=_add_up)


@pytest.mark.parametrize(
    ("form", "value", "plain", "read"),
    [
        (PLAIN, "a", "a", "a"),
        (MOMENT, 5, 5, 1005),
        (MOMENT, 0, 0, 0),
        (MOMENT, -1, -1, -1),
        (MOMENT, None, None, None),
        (KEYS, {"b": None, "a": None}, ["b", "a"], {"b": None, "a": None}),
        (TUPLE, (b"id", 3), [b"id", 3], (b"id", 3)),
        (listed(MOMENT, tuple), (1, 2), [1, 2], (1001, 1002)),
        (ordered(), {3, 1, 2}, [1, 2, 3], {1, 2, 3}),
        (ordered(TUPLE, frozenset), frozenset({(2, 1), (1, 2)}), [[1, 2], [2, 1]], frozenset({(1, 2), (2, 1)})),
        (mapped(PLAIN, PLAIN), {"b": 1, "a": 2}, [["b", 1], ["a", 2]], {"b": 1, "a": 2}),
        (mapped(TUPLE, MOMENT), {("a", 1): 7}, [[["a", 1], 7]], {("a", 1): 1007}),
        (optional(ordered()), None, None, None),
        (optional(ordered()), {1}, [1], {1}),
        (named(Event), Event("a", 1), ["a", 1], Event("a", 1)),
        (named(Event, at_ms=MOMENT), Event("a", 1), ["a", 1], Event("a", 1001)),
        (coded(Colour), Colour.RED, "red", Colour.RED),
    ],
)
def test_form_writes_plain_values_and_reads_them(form: Form, value: Any, plain: Any, read: Any) -> None:
    assert form.write(value) == plain
    result = form.read(plain, SHIFT_MS)
    assert (result, type(result)) == (read, type(read))


def test_record_within_keeps_the_object_that_others_share() -> None:
    outer = Outer()
    written = OUTER.write(outer)
    outer.inner.numbers.append(9)
    assert written == {"inner": {"numbers": [1, 2]}, "started_ms": 5}
    OUTER.fill(outer, written, SHIFT_MS)
    assert outer.same is outer.inner
    assert (outer.inner.numbers, outer.started_ms, outer.total) == ([1, 2], 1005, 3)
    outer.inner.numbers.append(9)
    assert OUTER.read(written, 0).inner.numbers == [1, 2], "reading copies the lists"


@pytest.mark.parametrize("plain", [{}, {"numbers": [1], "names": []}, {"names": []}])
def test_record_with_other_attributes_is_refused(plain: dict[str, Any]) -> None:
    with pytest.raises((ValueError, KeyError), match=r"Inner has the attributes|numbers"):
        INNER.read(plain, 0)


@cache
def records() -> list[Record[Any]]:
    """Returns the records of all modules of the package, and those within them."""
    names = [each.name for each in pkgutil.iter_modules(snapshots.__path__)]
    modules = [importlib.import_module(f"{snapshots.__name__}.{name}") for name in names]
    return list({id(each): each for module in modules for each in vars(module).values() if isinstance(each, Record)}.values())


def attributes(value: object) -> set[str]:
    slots = {name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ()) if name != "__weakref__"}
    return slots | set(getattr(value, "__dict__", {}))


def every_kind_of_state() -> World:
    """Returns a cluster with at least one object of each class that has a record."""
    few = {
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.num.partitions": "1",
    }
    world = World(1, few | AUTHORIZER | {"delegation.token.secret.key": "secret"})
    cluster = world.cluster
    for name in ("t", "__consumer_offsets", "__transaction_state"):
        assert cluster.topics.ensure_internal(name) or cluster.topics.create(name, 1)
    produce(world, "t", b"value", producer_id=1, producer_epoch=0, base_sequence=0)
    protocols = (Protocol("range", b""),)
    join = Join(protocol_type="consumer", protocols=protocols, session_timeout_ms=10_000, rebalance_timeout_ms=10_000)
    cluster.groups.classic.join("classic", join, Reply())
    cluster.groups.share.heartbeat("shares", ShareHeartbeat(member_id="m", epoch=0, topics=frozenset({"t"})))
    cluster.groups.consumer.heartbeat("consumer", ConsumerHeartbeat(member_id="m", epoch=0, regex="t.*", rebalance_timeout_ms=1000))
    cluster.groups.streams.heartbeat("streams", StreamsHeartbeat(member_id="m", epoch=0, topology=Topology(0, {})))
    producer = cluster.transactions.init_producer_id("id", 1000).producer
    cluster.transactions.add_partitions("id", producer, [TopicPartition("__consumer_offsets", 0)])
    cluster.groups.offsets.commit_in_transaction("offsets", producer, {("t", 0): CommittedOffset(5, -1, "", world.timers.now_ms)})
    cluster.share_states.initialize("share", cluster.topics["t"].id, 0, 0, 1)
    broker = cluster.brokers[1]
    assert None not in (broker.share_partitions, broker.fetch_sessions, broker.client_metrics, cluster.nodes, cluster.log_levels)
    cluster.accounts.tokens.create("User:a", "User:a", (), 1000)
    assert cluster.accounts.scram_credentials.unknown.credential("a", MECHANISMS[1])
    assert cluster.brokers[1].sasl
    cluster.zookeeper = ZooKeeper()  # as in older releases
    return world


@pytest.mark.parametrize("record", records(), ids=lambda record: record.kind.__name__)
def test_record_names_all_attributes_of_its_class(record: Record[Any]) -> None:
    world = every_kind_of_state()
    found = [each for each in gc.get_objects() if type(each) is record.kind]
    assert found, f"there is no {record.kind.__name__} in {world}"
    for each in found:
        missing = attributes(each) - record.fields.keys() - record.apart
        assert not missing, f"{record.kind.__name__}: name {missing} in its record, with a form if it is state, otherwise in `apart`"


@pytest.mark.parametrize("record", records(), ids=lambda record: record.kind.__name__)
def test_record_names_no_attribute_that_is_gone(record: Record[Any]) -> None:
    world = every_kind_of_state()
    known = set().union(*(attributes(each) for each in gc.get_objects() if type(each) is record.kind))
    assert record.fields.keys() | record.apart <= known, world
