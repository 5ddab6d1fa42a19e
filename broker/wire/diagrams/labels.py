"""The labels of arrows: for a request its API, version and subjects; for a response its errors or, in a few words, its contents.

Labels are for readers. They leave out what a diagram has no room for, and a response that they do not describe is "ok".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ....protocol.messages.produce import ProduceRequest
from ....protocol.records import HEADER, PREFIX_SIZE
from ....protocol.schema import ZERO_UUID
from ...faults.elements import Element
from ..exchange import Exchange

LONGEST_TEXT = 100
MOST_NAMES = 4
"""The most topics, partitions or groups in one label."""


def request_label(exchange: Exchange) -> str:
    """Returns the API, the version and the subjects of a request, such as "Produce v11 orders-0"."""
    parts = [f"{exchange.api} v{exchange.version}", *_some(map(_subject, exchange.elements()))]
    request = exchange.request
    if isinstance(request, ProduceRequest):
        parts.append(f"acks={'all' if request.acks == -1 else request.acks}")
    return " ".join(filter(None, parts))


def response_label(exchange: Exchange) -> str:
    """Returns the errors of a response or, without any, its contents, such as "orders-0 at offset 5"."""
    if exchange.errors:
        return " ".join(_some(exchange.errors))
    describe, response = _CONTENTS.get(exchange.api), exchange.response
    text = "" if describe is None or response is None else ", ".join(_some(describe(response, exchange.topic_names)))
    return text or "ok"


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """Returns text of at most `longest` characters, with escapes in place of characters that are not printable."""
    visible = "".join(character if character.isprintable() else _escape(character) for character in text[: longest + 1])
    return visible if len(visible) <= longest else visible[: longest - 1] + "…"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _some(texts: Iterable[str]) -> list[str]:
    """Returns the different texts, or the first ones with the number of the others."""
    found = list(dict.fromkeys(texts))
    if len(found) <= MOST_NAMES:
        return found
    return [*found[: MOST_NAMES - 1], f"and {len(found) - MOST_NAMES + 1} more"]


def _subject(element: Element) -> str:
    if element.topic is not None:
        return element.topic if element.partition is None else f"{element.topic}-{element.partition}"
    return element.transactional_id or element.group or ""


# The contents of responses. The functions receive the response and the names of topic ids.

Names = Mapping[bytes, str]


def _partitions(topics: Iterable[Any], partitions_of: str, names: Names) -> Iterator[tuple[str, Any]]:
    """Yields the name of each partition in lists of topics with lists of partitions, and the partition."""
    for topic in topics:
        topic_id = getattr(topic, "topic_id", ZERO_UUID)
        name = getattr(topic, "name", "") or getattr(topic, "topic", "") or names.get(topic_id, "a topic id")
        for partition in getattr(topic, partitions_of):
            index = partition.index if hasattr(partition, "index") else partition.partition_index
            yield f"{name}-{index}", partition


def _api_versions(response: Any, names: Names) -> Iterator[str]:
    yield f"{len(response.api_keys)} APIs"


def _metadata(response: Any, names: Names) -> Iterator[str]:
    yield f"{len(response.brokers)} node{'s' if len(response.brokers) != 1 else ''}"
    for topic in response.topics:
        for partition in topic.partitions:
            yield f"{topic.name}-{partition.partition_index} at node {partition.leader_id}"


def _created(response: Any, names: Names) -> Iterator[str]:
    for topic in response.topics:
        yield f"{topic.name} with {topic.num_partitions} partitions" if topic.num_partitions > 0 else str(topic.name)


def _produced(response: Any, names: Names) -> Iterator[str]:
    for name, partition in _partitions(response.responses, "partition_responses", names):
        yield f"{name} at offset {partition.base_offset}"


def _fetched(response: Any, names: Names) -> Iterator[str]:
    for name, partition in _partitions(response.responses, "partitions", names):
        yield f"{name}: {_records(partition.records)}"
    if not response.responses:
        yield "no records"


def _records(batches: Any) -> str:
    """Returns the number of records in batches of format 2. It may be higher than the number that a consumer uses."""
    count = position = 0
    data = memoryview(b"" if batches is None else bytes(batches))
    while position + HEADER.size <= len(data):
        fields = HEADER.unpack_from(data, position)
        length, records = fields[1], fields[-1]
        if length < HEADER.size - PREFIX_SIZE:
            break
        count += records
        position += PREFIX_SIZE + length
    return "no records" if not count else f"{count} record{'s' if count > 1 else ''}"


def _offsets(response: Any, names: Names) -> Iterator[str]:
    for name, partition in _partitions(response.topics, "partitions", names):
        yield f"{name} at {partition.offset}"


def _coordinators(response: Any, names: Names) -> Iterator[str]:
    if not response.coordinators:
        yield f"node {response.node_id}"
    for each in response.coordinators:
        yield f"{each.key} at node {each.node_id}"


def _joined(response: Any, names: Names) -> Iterator[str]:
    yield f"generation {response.generation_id}"
    yield f"leader of {len(response.members)}" if response.leader == response.member_id else "follower"


def _committed(response: Any, names: Names) -> Iterator[str]:
    topics = [*response.topics, *(topic for group in response.groups for topic in group.topics)]
    for name, partition in _partitions(topics, "partitions", names):
        yield f"{name} " + ("without a commit" if partition.committed_offset < 0 else f"at {partition.committed_offset}")


def _producer_id(response: Any, names: Names) -> Iterator[str]:
    yield f"producer {response.producer_id} epoch {response.producer_epoch}"


_CONTENTS: Mapping[str, Callable[[Any, Names], Iterator[str]]] = {
    "ApiVersions": _api_versions,
    "CreateTopics": _created,
    "Fetch": _fetched,
    "FindCoordinator": _coordinators,
    "InitProducerId": _producer_id,
    "JoinGroup": _joined,
    "ListOffsets": _offsets,
    "Metadata": _metadata,
    "OffsetFetch": _committed,
    "Produce": _produced,
}
