"""Quotas that act: the throttle times of Produce, Fetch and changes of topics, and which of several quotas applies.

The first request of a client that is measured has a throttle time that depends on its size only, so it is compared exactly. Each throttled
request has a connection of its own, because the next one on the same connection would be served later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from odradek.protocol.messages.create_partitions import CREATE_PARTITIONS
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.delete_topics import DELETE_TOPICS
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.metadata import METADATA

from ..case import Case, Send, Topic
from ..requests import batch_of, produce, request_of
from .fetch import request_of as fetch_request
from .fetch import wanted
from .quotas import Entity, alter, op

PRODUCING, FETCHING, MUTATING = "producer_byte_rate", "consumer_byte_rate", "controller_mutation_rate"
USER = "ANONYMOUS"


def cases() -> Iterator[Case]:
    for make in (_produced, _fetched, _chosen, _changed):
        yield from make()


def limit(client_id: str, key: str, value: float | None) -> Send:
    return alter(((("client-id", client_id),), [op(key, value)]))


def _produced() -> Iterator[Case]:
    for version in (3, 8, 9, 12):
        name = f"throttling.produce.v{version}"
        send = produce(name, batch_of(b"x" * 100))._replace(version=version, client_id=name, connection="first")
        yield Case(name, (Topic(name),), (limit(name, PRODUCING, 1), send))
        name = f"throttling.produce.enough.v{version}"
        sends = [produce(name, batch_of(b"x" * 100))._replace(version=version, client_id=name) for _ in range(3)]
        yield Case(name, (Topic(name),), (limit(name, PRODUCING, 1e6), *sends))


def _fetched() -> Iterator[Case]:
    for version in (4, 7, 12, 17):
        for word, offset, rate, epoch in (
            ("records", 0, 1, -1),
            ("end", 3, 1, -1),
            ("session", 0, 1, 0),
            ("enough", 0, 1e6, -1),
            ("small-window", 0, 5, -1),
        ):
            name = f"throttling.fetch.v{version}.{word}"
            filled = [produce(name, batch_of(bytes([97 + number]) * 100)) for number in range(3)]
            fields: dict[str, Any] = {"session_id": 0, "session_epoch": epoch} if version >= 7 else {}
            fetch = Send(FETCH, version, fetch_request((name, [wanted(offset)]), **fields), client_id=name, connection="first")
            yield Case(name, (Topic(name),), (*filled, limit(name, FETCHING, rate), fetch))


def _chosen() -> Iterator[Case]:
    """Sets a quota for each kind of entity, with another rate for each, and removes the most specific one again and again."""
    name = "throttling.chosen"
    entities: Sequence[Entity] = (
        (("client-id", name), ("user", USER)),
        (("client-id", None), ("user", USER)),
        (("user", USER),),
        (("client-id", name), ("user", None)),
        (("client-id", None), ("user", None)),
        (("user", None),),
        (("client-id", name),),
        (("client-id", None),),
    )
    for number in range(len(entities)):
        if entities[number] == (("user", None),):
            continue  # it shares the measurement of the user's own quota, so its throttle time depends on the time since that case
        case = f"{name}.{number}"
        remaining = [(_named(each, case), 1.0 + position) for position, each in enumerate(entities) if position >= number]
        set_all = alter(*((each, [op(PRODUCING, rate)]) for each, rate in remaining))
        remove_all = alter(*((each, [op(PRODUCING, None)]) for each, _ in remaining))
        send = produce(case, batch_of(b"x" * 1000))._replace(client_id=case, connection="first")
        without_id = produce(case, batch_of(b"x" * 1000))._replace(client_id="", connection="second")
        # The second client may share a measurement with the first, so its throttle time is exact only where it has no quota.
        sends = (send, without_id) if number >= 6 else (send,)
        yield Case(case, (Topic(case),), (set_all, *sends, remove_all))


def _named(entity: Entity, name: str) -> Entity:
    return tuple((kind, name if each == "throttling.chosen" else each) for kind, each in entity)


def _changed() -> Iterator[Case]:
    """Creates, enlarges and deletes topics with more partitions than there are tokens: eleven at a rate of 1."""
    for word, versions in (("permissive", (5, 2, 4)), ("strict", (7, 3, 6))):
        name = f"throttling.changes.{word}"
        create, enlarge, delete = (f"{name}.{each}" for each in ("create", "enlarge", "delete"))
        yield Case(
            f"{name}.create",
            (),
            (
                limit(create, MUTATING, 1),
                _create(versions[0], create, create, 20),
                _create(versions[0], create, f"{create}.second", 1),
                Send(METADATA, 9, request_of(METADATA, {"topics": [{"name": f"{create}.second"}], "allow_auto_topic_creation": False})),
            ),
        )
        yield Case(
            f"{name}.enlarge",
            (Topic(enlarge),),
            (limit(enlarge, MUTATING, 1), _enlarge(versions[1], enlarge, 22, "first"), _enlarge(versions[1], enlarge, 23, "second")),
        )
        topics = (Topic(delete, replicas=((1,),) * 20), Topic(f"{delete}.second"))
        yield Case(
            f"{name}.delete",
            topics,
            (limit(delete, MUTATING, 1), _delete(versions[2], delete, delete), _delete(versions[2], delete, f"{delete}.second")),
        )


def _create(version: int, client_id: str, topic: str, partitions: int) -> Send:
    assignments = [{"partition_index": index, "broker_ids": [1]} for index in range(partitions)]
    wanted: Mapping[str, Any] = {"name": topic, "num_partitions": -1, "replication_factor": -1, "assignments": assignments, "configs": []}
    request = request_of(CREATE_TOPICS, {"topics": [wanted], "timeout_ms": 5000})
    return Send(CREATE_TOPICS, version, request, client_id=client_id, connection=topic, settles=True)


def _enlarge(version: int, topic: str, count: int, connection: str) -> Send:
    wanted: Mapping[str, Any] = {"name": topic, "count": count, "assignments": None}
    request = request_of(CREATE_PARTITIONS, {"topics": [wanted], "timeout_ms": 5000, "validate_only": False})
    return Send(CREATE_PARTITIONS, version, request, client_id=topic, connection=connection, settles=True)


def _delete(version: int, client_id: str, topic: str) -> Send:
    fields: Mapping[str, Any] = {"topic_names": [topic]} if version < 6 else {"topics": [{"name": topic, "topic_id": bytes(16)}]}
    request = request_of(DELETE_TOPICS, {**fields, "timeout_ms": 5000})
    return Send(DELETE_TOPICS, version, request, client_id=client_id, connection=topic, settles=True)
