"""Captures the state of a cluster as a plain value, which a refused request must leave unchanged.

The value is collected by walking over the objects, so that new attributes are included automatically. Functions, random generators, the
bytes of records (represented by their offsets and size) and the unused memory of logs are left out, because they are not state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from random import Random
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

from odradek.broker.cluster.state import ClusterState
from odradek.broker.groups.settings import GroupSettings
from odradek.broker.scheduling.timers import Timers
from odradek.broker.security.authorizer import Authorizer
from odradek.broker.settings.values import BrokerConfig, GroupConfig, TopicConfig
from odradek.broker.topics.topic import Topic
from odradek.storage.log import Log

_PLAIN = {int, str, bytes, float, bool, type(None)}


def captured(value: Any) -> Any:
    """Returns the value of an object and of all objects that it refers to. Types with references to their owners are left out."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    capture = _CAPTURE.get(kind)
    if capture is None:
        capture = _CAPTURE[kind] = _capture_of(kind)
    return capture(value)


def _capture_of(kind: type) -> Callable[[Any], Any]:
    """Returns the function that captures objects of a type."""
    if issubclass(kind, Enum | int | str | bytes):
        return lambda value: value
    if issubclass(kind, tuple | list):
        return lambda value: [captured(item) for item in value]
    if issubclass(kind, dict):
        return lambda value: {_name(key): captured(item) for key, item in value.items()}
    if issubclass(kind, set | frozenset):
        return lambda value: sorted(map(repr, value))
    slots = tuple(name for cls in kind.__mro__ for name in getattr(cls, "__slots__", ()) if name != "__weakref__")
    return lambda value: {name: captured(item) for name, item in _attributes(value, slots)}


def _attributes(value: Any, slots: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    yield from ((name, getattr(value, name)) for name in slots if hasattr(value, name))
    yield from getattr(value, "__dict__", {}).items()


def _name(key: Any) -> Any:
    """Returns the key of a dictionary, or its text if it is an object."""
    return key if type(key) in _PLAIN or isinstance(key, tuple) else repr(key)


def _left_out(value: Any) -> None:
    return None


Armed = dict[Any, tuple[int, int, Callable[[], None]]]


def deadlines(armed: Armed) -> dict[Any, int]:
    """Returns when each armed timer fires. Unnamed timers, which belong to connections and requests, are left out."""
    named = sorted((key for key in armed if isinstance(key, str | tuple)), key=repr)
    return {key: armed[key][0] for key in named}


_CAPTURE: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((Random, ClusterState, Timers, Topic, GroupSettings, FunctionType, MethodType, BuiltinFunctionType), _left_out),
    Log: lambda log: [log.start_offset, log.end_offset, log.size],
    BrokerConfig: lambda config: [dict(config.own), dict(config.cluster_wide)],
    TopicConfig: lambda config: dict(config.overrides),
    GroupConfig: lambda config: dict(config.overrides),
    Authorizer: lambda authorizer: list(map(repr, authorizer._acls)),
    Counter: lambda counter: {key: count for key, count in counter.items() if count},
    memoryview: len,
}


class Excluded(NamedTuple):
    """The names of topics, groups and transactional ids whose state is left out to save time."""

    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    transactions: frozenset[str] = frozenset()


def cluster_state(cluster: ClusterState, excluded: Excluded = Excluded()) -> dict[str, Any]:  # noqa: B008
    """Returns all state of a cluster except its timers. Of excluded objects only the names are contained."""
    groups, transactions = cluster.groups, cluster.transactions._transactions
    return {
        "names": [list(cluster.topics), list(groups._table._groups), list(transactions)],
        "topics": {name: topic_state(cluster.topics[name]) for name in cluster.topics.keys() - excluded.topics},
        "topics_version": cluster.topics_version,
        "groups": {group_id: captured(groups.get(group_id)) for group_id in groups._table._groups.keys() - excluded.groups},
        "offsets": {group_id: captured(groups.offsets.of(group_id)) for group_id in groups.offsets._offsets.keys() - excluded.groups},
        "transactions": {name: captured(transactions[name]) for name in transactions.keys() - excluded.transactions},
        "next_producer_id": cluster.producer_ids.next_id,
        "group_configs": captured(cluster.group_configs),
        "authorizer": captured(cluster.authorizer),
        "scram_credentials": captured(cluster.accounts.scram_credentials),
        "nodes": {
            node_id: [broker.running, captured(broker.config), captured(broker.fetch_sessions)]
            for node_id, broker in cluster.brokers.items()
        },
    }


def topic_state(topic: Topic) -> dict[str, Any]:
    """Returns the state of a topic and its partitions."""
    return {"id": topic.id, "config": captured(topic.config), "partitions": [captured(each) for each in topic.partitions]}


def changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yields the differences of two states as `path: before -> after`."""
    if before == after and (not isinstance(before, dict) or list(before) == list(after)):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        if before.keys() == after.keys() and list(before) != list(after):
            yield f"{path}: other order"
        for key in before | after:
            if key not in before or key not in after:
                yield f"{path}.{key}: {'gone' if key in before else 'new'}"
            else:
                yield from changes(before[key], after[key], f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from changes(*pair, f"{path}.{number}")
    else:
        yield f"{path}: {before!r} -> {after!r}"
