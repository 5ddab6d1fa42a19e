"""The ids that a broker chooses: those in a captured session, and those that stand for them when it is played again.

They are learnt from pairs of responses, and replaced in the requests that follow, including the headers of record batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from ....protocol.batches.records import MAGIC_POSITION, first_batch_size, write_crc
from ....protocol.schema import ZERO_UUID, ProtocolError, Spec, specs

_NONE: dict[str, Any] = {"client instance": ZERO_UUID, "member": "", "producer": -1, "session": 0, "topic": ZERO_UUID}
"""The values that stand for no id, by kind."""
PRODUCER_ID = slice(43, 51)
"""The place of the producer id in a record batch."""


class Ids:
    """The ids of a replay, by kind and by the id in the capture."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Any], Any] = {}

    def learn(self, recorded: Any, live: Any) -> None:
        """Learns from a response of the capture and the one that the broker has given now."""
        for spec in specs(type(recorded)):
            before, now = getattr(recorded, spec.name), getattr(live, spec.name)
            if (kind := kind_of(spec)) is not None:
                if before not in (None, _NONE[kind]) and now not in (None, _NONE[kind]):
                    self._known[kind, before] = now
            elif isinstance(spec.kind, type) and before is not None and now is not None:
                pairs = pair_items(spec, before, now, self.live) if spec.array else [(0, before, now)]
                for _, one, other in pairs:
                    self.learn(one, other)

    def live(self, kind: str, recorded: Any) -> Any:
        """Returns the id that stands for one of the capture; the same if it is not known, because the client has chosen it."""
        return self._known.get((kind, recorded), recorded)

    def translate(self, message: Any) -> Any:
        """Returns a request with the ids of now."""
        return type(message)(**{spec.name: self._translate(spec, getattr(message, spec.name)) for spec in specs(type(message))})

    def _translate(self, spec: Spec, value: Any) -> Any:
        if value is None:
            return None
        if (kind := kind_of(spec)) is not None:
            return self.live(kind, value)
        if spec.kind == "records":
            return self._with_producer(bytearray(value))
        if not isinstance(spec.kind, type):
            return value
        return [self.translate(item) for item in value] if spec.array else self.translate(value)

    def _with_producer(self, records: bytearray) -> bytearray:
        """Returns record batches with the producer ids of now. Other bytes than batches of format 2 stay as they are."""
        rest = memoryview(records)
        try:
            while size := first_batch_size(rest):
                batch, rest = rest[:size], rest[size:]
                recorded = int.from_bytes(batch[PRODUCER_ID], "big", signed=True)
                if batch[MAGIC_POSITION] == 2 and (live := self.live("producer", recorded)) != recorded:
                    batch[PRODUCER_ID] = live.to_bytes(8, "big", signed=True)
                    write_crc(batch)
        except ProtocolError:
            pass
        return records


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
    """Returns the kind of the id in a field, None if the field contains no id."""
    if spec.array or isinstance(spec.kind, type) or (spec.name == "leader" and spec.kind != "str"):
        return None
    return KINDS.get(spec.name)


def pair_items(spec: Spec, recorded: Sequence[Any], live: Sequence[Any], translated: Translation) -> Iterator[tuple[int, Any, Any]]:
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


def _as_it_is(_: str, value: Any) -> Any:
    return value
