"""Finds the topics, partitions, groups and transactional ids in any request or response, from the declarations of its messages.

An element is the smallest part of a message that can fail by itself, such as a partition of a Produce request or a group of a
DescribeGroups request. A request without such parts, such as a Heartbeat, is one element. Requests and responses nest their elements in the
same way, in lists of structures (topics, in them partitions) or of plain names and numbers; only the names of the fields differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ...protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from ...protocol.messages.fetch import FetchRequest
from ...protocol.messages.metadata import MetadataRequest
from ...protocol.messages.offset_fetch import OffsetFetchRequest
from ...protocol.schema import ZERO_UUID, Message, Spec, specs

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.state import ClusterState

_TOPIC_FIELDS = ("topic", "topic_name")
_TOPIC_LISTS = ("topics", "topic_data", "v3_and_below_topics", "topic_partitions")
_NAMED_TOPIC_LISTS = (*_TOPIC_LISTS, "responses", "results", "topic_results", "results_by_topic_v3_and_below")
"""The lists whose items have the name of a topic in their field `name`. In other lists `name` is the name of something else."""
_PARTITION_FIELDS = ("partition_index", "partition", "partition_id", "index")
_GROUP_LISTS = ("groups", "group_ids", "groups_names")
_GROUP_FIELDS = ("group_id",)
_TRANSACTION_FIELDS = ("transactional_id", "v3_and_below_transactional_id")
_RESOURCE_TOPIC, _RESOURCE_GROUPS, _RESOURCE_TRANSACTION = 2, (3, 32), 5
"""Values of `resource_type`: 3 is a group in requests of ACLs, 32 in requests of configs."""
_GROUP_KEY, _TRANSACTION_KEY = 0, 1  # values of `key_type` in FindCoordinator


class Element(NamedTuple):
    """The subject of one part of a message. None stands for "not named"."""

    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None


WHOLE = Element()


class NamedElements:
    """Walks through messages. `topic_name` returns the name of a topic id, None if it is unknown."""

    def __init__(self, topic_name: Callable[[bytes], str | None]) -> None:
        self._topic_name = topic_name

    def find(self, request: Message) -> list[Element]:
        """Returns the elements that a request names."""
        found: list[Element] = []

        def note(element: Element) -> bool:
            found.append(element)
            return False

        self.select(request, note)
        return [each for each in found if each != WHOLE]

    def select(self, message: Message, keep: Callable[[Element], bool]) -> Message | None:
        """Returns a copy of the message with the elements that `keep` accepts, or None if none is left."""
        return self._select(message, self._extend(message, WHOLE, ""), keep)

    def whole(self, message: Message) -> Element:
        """Returns what a message is about apart from its lists, such as the group of a JoinGroup."""
        return self._extend(message, WHOLE, "")

    def item(self, item: object, within: Element, list_name: str, key_type: int = _GROUP_KEY) -> Element:
        """Returns what an item of a list is about, which includes what the message around the list is about."""
        if isinstance(item, Message):
            return self._extend(item, within, list_name)
        return _plain(item, within, list_name, key_type)

    def _select(self, message: Message, scope: Element, keep: Callable[[Element], bool]) -> Message | None:
        lists = [spec for spec in specs(type(message)) if has_elements(spec) and getattr(message, spec.name)]
        if not lists:
            return message if keep(scope) else None
        kept: dict[str, list[object]] = {spec.name: self._select_items(message, spec, scope, keep) for spec in lists}
        if not any(kept.values()):
            return None
        return replace_fields(message, kept)

    def _select_items(self, message: Message, spec: Spec, scope: Element, keep: Callable[[Element], bool]) -> list[object]:
        kept: list[object] = []
        for item in getattr(message, spec.name):
            element = self.item(item, scope, spec.name, getattr(message, "key_type", _GROUP_KEY))
            if not isinstance(item, Message):
                if keep(element):
                    kept.append(item)
            elif (selected := self._select(item, element, keep)) is not None:
                kept.append(selected)
        return kept

    def _extend(self, item: Message, within: Element, list_name: str) -> Element:
        """Returns `within` with the names that the fields of `item` add to it."""
        values = vars(item)
        if "key_type" in values and values.get("key"):
            return _coordinator(values["key"], values["key_type"])
        if "resource_name" in values:
            return _resource(values.get("resource_type", 0), values["resource_name"], within)
        topic = self._topic(values, list_name)
        partition = next((values[name] for name in _PARTITION_FIELDS if name in values), None)
        group = next((values[name] for name in _GROUP_FIELDS if values.get(name)), None)
        transactional_id = next((values[name] for name in _TRANSACTION_FIELDS if values.get(name)), None)
        return Element(
            within.topic if topic is None else topic,
            within.partition if partition is None else partition,
            within.group if group is None else group,
            within.transactional_id if transactional_id is None else transactional_id,
        )

    def _topic(self, values: dict[str, Any], list_name: str) -> str | None:
        named = next((values[name] for name in _TOPIC_FIELDS if values.get(name)), None)
        if named is None and list_name in _NAMED_TOPIC_LISTS:
            named = values.get("name")
        if not named and values.get("topic_id", ZERO_UUID) != ZERO_UUID:
            named = self._topic_name(values["topic_id"])
        return named or None


class Elements(NamedElements):
    """Also finds what a request for "all" is about in a cluster."""

    def __init__(self, cluster: ClusterState) -> None:
        super().__init__(cluster.topics.name_of)
        self._cluster = cluster

    def of(self, request: Message, broker: Broker) -> list[Element]:
        """Returns the elements of a request to a broker, at least one."""
        return [*self.find(request), *self._implicit(request, broker)] or [WHOLE]

    def _implicit(self, request: Message, broker: Broker) -> Iterator[Element]:
        """Yields what a request is about without naming it: all topics, or the partitions of a fetch session."""
        if isinstance(request, FetchRequest):
            for name, index in broker.fetch_sessions.partitions(request.session_id):
                yield Element(name, index)
        elif isinstance(request, OffsetFetchRequest) and request.groups:
            groups = [group.group_id for group in request.groups if group.topics is None]
            yield from (Element(name, None, group_id) for group_id in groups for name in self._cluster.topics)
        elif any(spec.name in _TOPIC_LISTS and _asks_for_all(request, spec) for spec in specs(type(request))):
            scope = self.whole(request)
            yield from (scope._replace(topic=name) for name in self._cluster.topics)


def has_elements(spec: Spec) -> bool:
    """Returns whether a list contains elements, as opposed to properties such as the configs of a new topic."""
    name = spec.name
    return spec.array and (
        name in _NAMED_TOPIC_LISTS
        or name in _GROUP_LISTS
        or name.startswith(("partition", "results_by_", "replica_election"))
        or name in ("topic_names", "transactional_ids", "transactions", "transaction_states", "coordinator_keys", "coordinators")
        or name in ("resources", "markers")
    )


def _asks_for_all(request: Message, spec: Spec) -> bool:
    """Returns whether a list of topics means all of them: null, or an empty one if the list cannot be null or comes without a version."""
    topics = getattr(request, spec.name)
    return topics is None or (not topics and isinstance(request, MetadataRequest | DescribeTopicPartitionsRequest))


def replace_fields(message: Message, values: dict[str, Any]) -> Message:
    """Returns a copy of a message with other values of some fields."""
    return type(message)(**{spec.name: getattr(message, spec.name) for spec in specs(type(message))} | values)


def _plain(item: Any, within: Element, list_name: str, key_type: int) -> Element:
    if list_name == "coordinator_keys":
        return _coordinator(item, key_type)
    if list_name in _GROUP_LISTS:
        return within._replace(group=item)
    if list_name == "transactional_ids":
        return within._replace(transactional_id=item)
    if isinstance(item, int):
        return within._replace(partition=item)
    return within._replace(topic=item)


def _coordinator(key: str, key_type: int) -> Element:
    return Element(group=key) if key_type == _GROUP_KEY else Element(transactional_id=key) if key_type == _TRANSACTION_KEY else WHOLE


def _resource(resource_type: int, name: str, within: Element) -> Element:
    if resource_type == _RESOURCE_TOPIC:
        return within._replace(topic=name)
    if resource_type in _RESOURCE_GROUPS:
        return within._replace(group=name)
    return within._replace(transactional_id=name) if resource_type == _RESOURCE_TRANSACTION else within


def subjects(message: type[Message], list_name: str = "") -> frozenset[str]:
    """Returns what messages of a class can name: some of "topic", "partitions", "group" and "transactional_id"."""
    found: set[str] = set()
    for spec in specs(message):
        if not spec.array:
            found |= _field_subjects(spec.name, list_name)
        elif not has_elements(spec):
            continue
        elif isinstance(spec.kind, type):
            found |= subjects(spec.kind, spec.name)
        else:
            found |= _list_subjects(spec)
    return frozenset(found)


def _field_subjects(name: str, list_name: str) -> set[str]:
    if name in ("key_type", "resource_type"):
        return {"group", "transactional_id"} if name == "key_type" else {"topic", "group", "transactional_id"}
    if name in _TOPIC_FIELDS or name == "topic_id" or (name == "name" and list_name in _NAMED_TOPIC_LISTS):
        return {"topic"}
    if name in _PARTITION_FIELDS:
        return {"partitions"}
    return {"group"} if name in _GROUP_FIELDS else {"transactional_id"} if name in _TRANSACTION_FIELDS else set()


def _list_subjects(spec: Spec) -> set[str]:
    if spec.name == "coordinator_keys":
        return {"group", "transactional_id"}
    if spec.name in _GROUP_LISTS:
        return {"group"}
    return {"transactional_id"} if spec.name == "transactional_ids" else {"topic"} if spec.kind == "str" else {"partitions"}
