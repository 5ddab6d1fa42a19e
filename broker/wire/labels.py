"""The labels of arrows: for a request its API, version and subjects; for a response its errors or, in a few words, its contents.

Labels are for readers. They leave out what a diagram has no room for, and a response that they do not describe is "ok".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...protocol.batches.records import HEADER, PREFIX_SIZE
from ...protocol.messages.produce import ProduceRequest
from ...protocol.schema import ZERO_UUID
from ..faults.elements import Element
from ..plurals import counted
from .exchange import Event, Exchange, error_names

MAX_TEXT_LENGTH = 100
MAX_MESSAGE_LENGTH = 50
FIRST_ERROR_STATUS = 400
BATCH_FORMAT = 2
"""The magic byte of a record batch; message sets of older releases have a lower one."""
MAX_NAMES = 4
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
    response = exchange.partial_response
    errors = () if response is None else error_names(response)
    return " ".join(_some(errors)) if errors else contents_label(exchange) or "ok"


def contents_label(exchange: Exchange) -> str:
    """Returns the contents of a response without errors, such as "orders-0 at offset 5", "" if no words are known for them."""
    describe = _CONTENTS.get(exchange.api)
    return "" if describe is None else ", ".join(_some(describe(exchange)))


def registry_request_label(event: Event) -> str:
    """Returns the method and path of a request to the schema registry."""
    return f"{event.fields['method']} {event.fields['path']}"


def registry_answer_label(event: Event) -> str:
    """Returns the status of the answer to a request to the schema registry, with the id of a schema, or with the error."""
    fields = event.fields
    if is_registry_error(event):
        code, message = fields.get("error_code"), shorten(str(fields.get("message", "")), MAX_MESSAGE_LENGTH)
        return " ".join(str(each) for each in (fields["status"], None if code == fields["status"] else code, message) if each)
    return f"{fields['status']} id {fields['id']}" if "id" in fields else str(fields["status"])


def is_registry_error(event: Event) -> bool:
    """Returns whether the schema registry has refused a request."""
    return int(event.fields["status"]) >= FIRST_ERROR_STATUS


def shorten(text: str, longest: int = MAX_TEXT_LENGTH) -> str:
    """Returns text of at most `longest` characters, with escapes in place of characters that are not printable."""
    visible = "".join(character if character.isprintable() else _escape(character) for character in text[: longest + 1])
    return visible if len(visible) <= longest else visible[: longest - 1] + "…"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _some(texts: Iterable[str]) -> list[str]:
    """Returns the different texts, or the first ones with the number of the others."""
    found = list(dict.fromkeys(texts))
    if len(found) <= MAX_NAMES:
        return found
    return [*found[: MAX_NAMES - 1], f"and {len(found) - MAX_NAMES + 1} more"]


def _subject(element: Element) -> str:
    if element.topic is not None:
        return element.topic if element.partition is None else f"{element.topic}-{element.partition}"
    return element.transactional_id or element.group or ""


# The contents of responses. A response that is not complete in the record has zeros behind its head, which are not contents.


def _partitions(topics: Iterable[Any], partitions_of: str, exchange: Exchange) -> Iterator[tuple[str, Any]]:
    """Yields the name of each partition in lists of topics with lists of partitions, and the partition."""
    for topic in topics:
        topic_id = getattr(topic, "topic_id", ZERO_UUID)
        name = getattr(topic, "name", "") or getattr(topic, "topic", "") or exchange.topic_names.get(topic_id, "a topic id")
        for partition in getattr(topic, partitions_of):
            index = partition.index if hasattr(partition, "index") else partition.partition_index
            yield f"{name}-{index}", partition


def _api_versions(_: Exchange, response: Any) -> Iterator[str]:
    yield f"{len(response.api_keys)} APIs"


def _metadata(_: Exchange, response: Any) -> Iterator[str]:
    yield counted(len(response.brokers), "node")
    for topic in response.topics:
        for partition in topic.partitions:
            yield f"{topic.name}-{partition.partition_index} at node {partition.leader_id}"


def _topics(_: Exchange, response: Any) -> Iterator[str]:
    for topic in response.topics:
        yield f"{topic.name} with {counted(topic.num_partitions, 'partition')}" if topic.num_partitions > 0 else str(topic.name)


def _appends(exchange: Exchange, response: Any) -> Iterator[str]:
    counts = _counts(exchange)
    for name, partition in _partitions(response.responses, "partition_responses", exchange):
        count = counts.get(name, 0)
        yield f"{name} at offset {partition.base_offset}" + (f" ({count} records)" if count > 1 else "")


def _counts(exchange: Exchange) -> dict[str, int]:
    """Returns the number of records of each partition in a Produce request."""
    request = exchange.partial_request
    topics = [] if request is None else request.topic_data  # type: ignore[attr-defined]
    return {name: _batches(partition.records)[1] for name, partition in _partitions(topics, "partition_data", exchange)}


def _reads(exchange: Exchange) -> Iterator[str]:
    response: Any = exchange.partial_response
    if response is None:
        return
    known = exchange.response is not None
    for name, partition in _partitions(response.responses, "partitions", exchange):
        offset, count = _batches(partition.records)
        if count:
            yield f"{name}: {'' if known else 'at least '}{counted(count, 'record')} from offset {offset}"
        elif known:
            yield f"{name}: no records"
    if not response.responses:
        yield "no records"


def _batches(batches: Any) -> tuple[int, int]:
    """Returns the first offset and the number of records in batches of format 2. A consumer may use fewer of them."""
    first = count = position = 0
    data = memoryview(b"" if batches is None else batches)
    while position + HEADER.size <= len(data):
        fields = HEADER.unpack_from(data, position)
        offset, length, magic, records = fields[0], fields[1], fields[3], fields[-1]
        if magic != BATCH_FORMAT or length < HEADER.size - PREFIX_SIZE:
            break
        first = first if count else offset
        count += records
        position += PREFIX_SIZE + length
    return first, count


def _offsets(exchange: Exchange, response: Any) -> Iterator[str]:
    for name, partition in _partitions(response.topics, "partitions", exchange):
        yield f"{name} at {partition.offset}"


def _coordinators(_: Exchange, response: Any) -> Iterator[str]:
    if not response.coordinators:
        yield f"node {response.node_id}"
    for each in response.coordinators:
        yield f"{each.key} at node {each.node_id}"


def _membership(_: Exchange, response: Any) -> Iterator[str]:
    yield f"generation {response.generation_id}"
    yield f"leader of {len(response.members)}" if response.leader == response.member_id else "follower"


def _commits(exchange: Exchange, response: Any) -> Iterator[str]:
    topics = [*response.topics, *(topic for group in response.groups for topic in group.topics)]
    for name, partition in _partitions(topics, "partitions", exchange):
        yield f"{name} " + ("without a commit" if partition.committed_offset < 0 else f"at {partition.committed_offset}")


def _producer_id(_: Exchange, response: Any) -> Iterator[str]:
    yield f"producer {response.producer_id} epoch {response.producer_epoch}"


def _of_whole(describe: Callable[[Exchange, Any], Iterator[str]]) -> Callable[[Exchange], Iterator[str]]:
    """Returns a function that describes a response which is complete in the record."""

    def describe_whole(exchange: Exchange) -> Iterator[str]:
        response = exchange.response
        if response is not None:
            yield from describe(exchange, response)

    return describe_whole


_CONTENTS: Mapping[str, Callable[[Exchange], Iterator[str]]] = {
    "ApiVersions": _of_whole(_api_versions),
    "CreateTopics": _of_whole(_topics),
    "Fetch": _reads,
    "FindCoordinator": _of_whole(_coordinators),
    "InitProducerId": _of_whole(_producer_id),
    "JoinGroup": _of_whole(_membership),
    "ListOffsets": _of_whole(_offsets),
    "Metadata": _of_whole(_metadata),
    "OffsetFetch": _of_whole(_commits),
    "Produce": _of_whole(_appends),
}
