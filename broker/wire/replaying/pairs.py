"""Pairs the items of two lists that mean the same, because most lists of a response have no order: topics, partitions, members, configs.

Items are paired by the fields that identify them. All others are paired by position: items without such fields, and those whose ids have
not been learnt yet.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from ....protocol.schema import Spec, specs

NAMES = frozenset((
    *("name", "topic", "topic_name", "group_id", "transactional_id", "subtopology_id", "group_instance_id", "instance_id", "feature"),
    *("resource_type", "resource_name", "pattern_type", "principal", "operation", "permission_type"),
    *("entity_type", "entity_name", "user", "mechanism", "principal_type", "principal_name", "key", "log_dir"),
    *("index", "partition_index", "partition", "partition_id", "batch_index", "first_offset", "replica_id", "broker_id"),
))  # fmt: skip
"""The fields that identify an item in its list, in any cluster."""

KINDS = {
    "client_instance_id": "client instance",
    "leader": "member",
    "member_id": "member",
    "producer_id": "producer",
    "session_id": "session",
    "topic_id": "topic",
}
"""The fields that contain such an id, and the kind of the id. `leader` is that of JoinGroup; elsewhere leaders are numbers of nodes."""
Translation = Callable[[str, Any], Any]
"""Returns the id that stands for one of a capture, from its kind and the id."""


def kind_of(spec: Spec) -> str | None:
    """Returns the kind of the id in a field, None if it is no such id."""
    if spec.array or isinstance(spec.kind, type) or (spec.name == "leader" and spec.kind != "str"):
        return None
    return KINDS.get(spec.name)


def paired(spec: Spec, recorded: Sequence[Any], live: Sequence[Any], translated: Translation) -> Iterator[tuple[int, Any, Any]]:
    """Yields the items of a recorded list that have a counterpart, with their positions and the counterparts."""
    others: dict[Hashable, deque[Any]] = {}
    for each in live:
        others.setdefault(_key(spec, each, _as_it_is), deque()).append(each)
    found: list[tuple[int, Any, Any]] = []
    left: list[tuple[int, Any]] = []
    for number, each in enumerate(recorded):
        same = others.get(_key(spec, each, translated))
        if same:
            found.append((number, each, same.popleft()))
        else:
            left.append((number, each))
    rest = (each for same in others.values() for each in same)
    found += ((number, each, other) for (number, each), other in zip(left, rest, strict=False))
    yield from sorted(found, key=lambda pair: pair[0])


def _key(spec: Spec, item: Any, translated: Translation) -> Hashable:
    """Returns the names of an item that identify it or, without names, its ids. An item of a plain type identifies itself."""
    if not isinstance(spec.kind, type):
        return bytes(item) if isinstance(item, memoryview | bytearray) else item
    fields = [each for each in specs(spec.kind) if not each.array and not isinstance(each.kind, type)]
    names = tuple((each.name, value) for each in fields if each.name in NAMES and (value := getattr(item, each.name)) not in (None, ""))
    return names or tuple((kind, translated(kind, getattr(item, each.name))) for each in fields if (kind := kind_of(each)) is not None)


def _as_it_is(_kind: str, value: Any) -> Any:
    return value
