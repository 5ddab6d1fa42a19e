"""Requests of every API with a chosen number of elements in one of their arrays, made from the declarations of the messages.

A cluster that answers them has what they name: topics, groups, users and transactional ids `a_0`, `a_1` and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.handlers import HANDLERS
from odradek.broker.settings.types import STANDARD_AUTHORIZER
from odradek.broker.transactions.transaction import Producer
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.schema import Api, Message, Spec, has_default, specs
from tests.broker.harness import World

# Values without which a request is refused before its arrays are read.
VALUES: dict[str, Any] = {
    "acks": 1,
    "count": 2,
    "election_type": 0,
    "host": "*",
    "host_filter": None,
    "isolation_level": 0,
    "iterations": 4096,
    "max_bytes": 1 << 20,
    "mechanism": 1,
    "num_partitions": -1,
    "operation": 3,
    "partition_max_bytes": 1 << 20,
    "path": "/tmp/kafka-logs",
    "pattern_type_filter": 3,
    "permission_type": 3,
    "principal": "User:a",
    "principal_filter": None,
    "protocol_type": "consumer",
    "rebalance_timeout_ms": 10_000,
    "replication_factor": -1,
    "resource_pattern_type": 3,
    "resource_type": 2,
    "resource_type_filter": 2,
    "response_partition_limit": 2000,
    "session_timeout_ms": 10_000,
    "timestamp": -1,
}
# Numbers that stand for "none".
NONE = ("epoch", "generation_id", "replica_id", "retention_time_ms", "offset")


class Place(NamedTuple):
    """The path to an array in a request: the names of its fields, in one version of the API."""

    api: Api
    version: int
    path: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.api.name}-v{self.version}-{'.'.join(self.path)}"


@dataclass(frozen=True)
class Naming:
    """How array elements are named: existing or not, all different or all equal, topics by name or by id."""

    prefix: str = "a_"
    alike: bool = False
    by_id: bool = False

    def name(self, number: int) -> str:
        return f"{self.prefix}{0 if self.alike else number}"


def places(api: Api) -> Iterator[Place]:
    """Yields the path of every array in the requests of an API, in the last version that has it."""
    found: dict[tuple[str, ...], int] = {}
    for version in range(api.versions.first, api.versions.last + 1):
        for path in _paths(api.request, version):
            found[path] = version
    return (Place(api, version, path) for path, version in found.items())


def _paths(cls: type[Message], version: int) -> Iterator[tuple[str, ...]]:
    for spec in specs(cls):
        if spec.present(version):
            if spec.array:
                yield (spec.name,)
            if not isinstance(spec.kind, str):
                yield from ((spec.name, *path) for path in _paths(spec.kind, version))


def named_places(namings: Mapping[str, Naming]) -> Iterator[tuple[Place, str, Naming]]:
    """Yields the arrays of all APIs with the namings, and the key of each, that their elements may have."""
    for handler in HANDLERS.values():
        for place in places(handler.api):
            for key, naming in namings.items():
                if _names_ids(place) or not naming.by_id:
                    yield place, key, naming


def authorized_world(*, stepwise: bool = False) -> World:
    """Returns a node with an authorizer and the internal topics."""
    settings = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:ANONYMOUS", "auto.create.topics.enable": "false"}
    world = World(1, settings, stepwise=stepwise)
    for name in ("__consumer_offsets", "__transaction_state"):
        world.cluster.topics.ensure_internal(name)
    return world


def _names_ids(place: Place) -> bool:
    """Returns whether an element of the array, or one that contains it, may have an id."""
    cls = place.api.request
    for name in place.path:
        spec = next(spec for spec in specs(cls) if spec.name == name)
        if isinstance(spec.kind, str):
            return False
        cls = spec.kind
        if any(each.name == "topic_id" and each.present(place.version) for each in specs(cls)):
            return True
    return False


class Maker:
    """Builds a request with `size` elements in the array at `place`, and one element in each array that contains it."""

    def __init__(self, world: World, place: Place, size: int, naming: Naming) -> None:
        self.world, self.place, self.size, self.naming = world, place, size, naming

    def request(self) -> Any:
        return self._message(self.place.api.request, self.place.path, 0)

    def _message(self, cls: type[Message], path: tuple[str, ...], number: int) -> Any:
        present = [spec for spec in specs(cls) if spec.present(self.place.version)]
        values = {spec.name: self._field(spec, path, number) for spec in present}
        if {"name", "topic_id"} <= values.keys():
            unused = "name" if self.naming.by_id else "topic_id"
            nameless = any(spec.name == "name" and spec.null_allowed(self.place.version) for spec in present)
            values[unused] = bytes(16) if unused == "topic_id" else None if nameless else ""
        absent = {spec.name: _absent(spec) for spec in specs(cls) if spec not in present and not has_default(spec.declared)}
        return cls(**values, **absent)

    def _field(self, spec: Spec, path: tuple[str, ...], number: int) -> Any:
        leads = path[:1] == (spec.name,)
        if not spec.array:
            return self._value(spec, path[1:] if leads else (), number)
        if not leads:
            return None if spec.name == "assignments" and spec.null_allowed(self.place.version) else []
        numbers = range(self.size if len(path) == 1 else 1)
        return [self._value(spec, path[1:], 0 if self.naming.alike else each) for each in numbers]

    def _value(self, spec: Spec, path: tuple[str, ...], number: int) -> Any:
        if not isinstance(spec.kind, str):
            return None if spec.nullable and not spec.array else self._message(spec.kind, path, number)
        if spec.name in VALUES:
            return VALUES[spec.name]
        if spec.name.endswith(("producer_id", "producer_epoch")):
            transaction = self.world.cluster.transactions.get(self.naming.name(number))
            producer = transaction.producer if transaction else Producer(number, 0)
            return producer.id if spec.name.endswith("id") else producer.epoch
        match spec.kind:
            case "str":
                return self.naming.name(number) if spec.array or not spec.nullable or _names(spec) else None
            case "16s":
                topic = self.world.cluster.topics.get(self.naming.name(number))
                return topic.id if topic else number.to_bytes(16, "big")
            case "bytes":
                return b"\0" * 16
            case "records":
                return bytes(build_batch([Record(0, 1000, b"k", b"v", [])]))
            case "?":
                return False
            case "d":
                return 0.0
        if spec.name.endswith(NONE):
            return -1
        return number % {"b": 1 << 7, "h": 1 << 15}.get(spec.kind, 1 << 31)


def _names(spec: Spec) -> bool:
    return spec.name in ("name", "topic_name", "resource_name_filter", "value", "match")


def _absent(spec: Spec) -> Any:
    return [] if spec.array else {"str": "", "bytes": b"", "16s": bytes(16)}.get(str(spec.kind), 0)


def minimal(api: Api) -> Message:
    """Returns a request of the last version with empty arrays and texts, and numbers that are 0."""
    return _minimal(api.request, api.versions.last)


def _minimal(cls: type[Message], version: int) -> Message:
    values: dict[str, Any] = {}
    for spec in specs(cls):
        if spec.array or isinstance(spec.kind, str):
            values[spec.name] = b"" if spec.kind == "records" else _absent(spec)
        else:
            values[spec.name] = None if spec.null_allowed(version) else _minimal(spec.kind, version)
    return cls(**values)


def populate(world: World, count: int) -> None:
    """Creates the resources that the requests name: `count` of each kind, and `count` partitions of a_0."""
    cluster = world.cluster
    nodes = sorted(cluster.brokers)
    for number in range(count):
        name = f"a_{number}"
        partitions = 1 if number else count
        if name in cluster.topics and len(cluster.topics[name].partitions) != partitions:
            cluster.delete_topic(cluster.topics[name])
        if name not in cluster.topics:
            cluster.topics.create(name, assignments=[nodes[:1]] * partitions)
        if cluster.groups.get(name) is None:
            cluster.groups.offsets.commit(name, {(name, 0): CommittedOffset(1, -1, "", 0)})
        if cluster.transactions.get(name) is None:
            cluster.transactions.init_producer_id(name, 60_000)
