"""Captures the state of a cluster as a plain value, which a refused request must leave unchanged, and a restored snapshot must reproduce.

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

from odradek.broker.cluster.client_metrics import MetricSubscriptions
from odradek.broker.cluster.controller import Brokers
from odradek.broker.cluster.log_dirs import LogDirs
from odradek.broker.cluster.log_levels import LogLevels
from odradek.broker.cluster.state import ClusterState
from odradek.broker.groups.coordinator import Groups
from odradek.broker.groups.settings import GroupSettings
from odradek.broker.scheduling.timers import Timers
from odradek.broker.security.authorizer import Authorizer
from odradek.broker.settings.values import BrokerConfig, GroupConfig, TopicConfig
from odradek.broker.share_partitions.coordinator import ShareCoordinator
from odradek.broker.snapshots.coordinators import is_of_state
from odradek.broker.topics.partition import Topic
from odradek.broker.topics.topics import Topics
from odradek.storage.log import Log

_PLAIN = {int, str, bytes, float, bool, type(None)}  # tested before `captured` is called, because states have millions of these values
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)


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
    if hasattr(kind, "_fields"):
        return lambda value: {name: captured(getattr(value, name)) for name in kind._fields}
    if issubclass(kind, tuple | list):
        return lambda value: [captured(item) for item in value if not isinstance(item, _FUNCTIONS)]
    if issubclass(kind, dict):
        return lambda value: {_name(key): item if type(item) in _PLAIN else captured(item) for key, item in value.items()}
    if issubclass(kind, set | frozenset):
        return lambda value: sorted(map(repr, value))
    slots = tuple(name for cls in kind.__mro__ for name in getattr(cls, "__slots__", ()) if name != "__weakref__")
    return lambda value: {name: item if type(item) in _PLAIN else captured(item) for name, item in _attributes(value, slots).items()}


def _attributes(value: Any, slots: tuple[str, ...]) -> dict[str, Any]:
    attributes = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    attributes.update(getattr(value, "__dict__", {}))
    return attributes


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


GROUPS = ("_table", "classic", "consumer", "share", "streams", "offsets", "offset_expiry")
"""The attributes of `Groups`, some of which are created on use."""
_CAPTURE: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((Random, Brokers, ClusterState, Timers, Topic, Topics, GroupSettings, *_FUNCTIONS), _left_out),
    Log: lambda log: [log.start_offset, log.end_offset, log.size],
    BrokerConfig: lambda config: [dict(config.own), dict(config.cluster_wide)],
    TopicConfig: lambda config: dict(config.overrides),
    GroupConfig: lambda config: dict(config.overrides),
    MetricSubscriptions: lambda subscriptions: {name: dict(config.overrides) for name, config in subscriptions.configs.items()},
    LogDirs: lambda dirs: {"placed": dict(dirs.placed), "moves": captured(dirs.moves), "chosen": dict(dirs.chosen)},
    Groups: lambda groups: {name: captured(getattr(groups, name)) for name in GROUPS},
    LogLevels: _left_out,
    Authorizer: lambda authorizer: list(map(repr, authorizer._acls)),
    ShareCoordinator: lambda states: {key: [states.summary(*key), states.read(key, -1)] for key in states},
    Counter: lambda counter: {key: count for key, count in counter.items() if count},
    memoryview: len,
}


LOST_IN_A_RESTART = ("fetch_sessions", "share_partitions", "client_metrics", "connections", "request_memory", "_share_view")
"""The attributes of brokers that a snapshot does not contain."""
CREATED_ON_USE = ("log_levels", "metric_subscriptions", "nodes", "regexes", "share_states")
"""The attributes of clusters that one of two equal clusters may lack."""
LOST_IN_A_SNAPSHOT = {
    *("join_reply", "sync_reply", "joined"),  # waiting requests
    *("_supporters", "descriptions", "sasl"),  # follow from the members, and from the partitions
    *(
        "may_describe",
        "_matches",
        "_unexpired_until_ms",
        "_running",
        "_longest_prefix",
        "deletion_due",
        "compaction_due",
    ),  # found again when they are needed
}
FIRST_MOMENT_MS = 10**12
"""Numbers from here on, in attributes whose names end in `_ms`, are times; smaller ones are durations."""


def everything(cluster: ClusterState) -> dict[str, Any]:
    """Returns all attributes of a cluster that a snapshot restores, and its timers. Times are relative to the cluster's clock."""
    now_ms = cluster.timers.now_ms
    values = {
        name: captured(value)
        for name, value in vars(cluster).items()
        if name not in (*CREATED_ON_USE, "topics", "topics_by_id", "brokers", "serves", "blocks", "check_tls", "_users")
    }
    values["topics"] = [topic_state(topic) | {"records": _records(topic)} for topic in cluster.topics.values()]
    values["metric_subscriptions"] = captured(cluster.metric_subscriptions)
    values["leader_epochs"] = [cluster.topics.first_leader_epoch, cluster.topics.newest_leader_epoch]
    values["silent"] = sorted(cluster.brokers.silent)
    values["topics_version"] = cluster.topics_version
    values["topics_by_id"] = {topic_id: topic.name for topic_id, topic in cluster.topics_by_id.items()}
    values["brokers"] = [
        {name: captured(value) for name, value in vars(broker).items() if name not in LOST_IN_A_RESTART}
        for broker in cluster.brokers.values()
    ]
    values["random"] = cluster.random.getstate()
    values["timers"] = [[repr(key), left_ms] for key, left_ms in cluster.timers.remaining() if is_of_state(key)]
    return {name: _relative(values[name], now_ms) for name in sorted(values)}


def _records(topic: Topic) -> list[list[bytes]]:
    logs = [partition.log for partition in topic.partitions]
    return [[bytes(batch) for batch in log.batches(log.start_offset, log.end_offset)] for log in logs]


def _relative(value: Any, now_ms: int) -> Any:
    """Returns a captured value with times relative to `now_ms`, and without what a snapshot does not restore."""
    if isinstance(value, dict):
        return {
            name: _ago(item, now_ms) if isinstance(name, str) and name.endswith("_ms") else _relative(item, now_ms)
            for name, item in value.items()
            if name not in LOST_IN_A_SNAPSHOT
        }
    if isinstance(value, list):
        return [_relative(item, now_ms) for item in value]
    return value if value == value else repr(value)  # a quota may be NaN, which equals nothing


def _ago(value: Any, now_ms: int) -> Any:
    if isinstance(value, list):
        return [_ago(item, now_ms) for item in value]
    return value - now_ms if isinstance(value, int) and value >= FIRST_MOMENT_MS else _relative(value, now_ms)


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
            node_id: [broker.running, broker.fenced, broker.silence, captured(broker.config), captured(broker.fetch_sessions)]
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
