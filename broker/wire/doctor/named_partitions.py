"""The partitions that a request or a response lists below their topics, by name and number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..exchange import Exchange


class Named(NamedTuple):
    """A partition of a message, with the name of its topic."""

    topic: str
    number: int
    fields: Any

    @property
    def key(self) -> tuple[str, int]:
        return self.topic, self.number


def named(topics: Iterable[Any] | None, exchange: Exchange) -> Iterator[Named]:
    """Yields the partitions of topics in a request or a response of an exchange. A topic id without a known name gives ""."""
    for topic in topics or ():
        name = getattr(topic, "name", "") or getattr(topic, "topic", "") or exchange.topic_names.get(getattr(topic, "topic_id", b""), "")
        for partition in topic.partitions:
            index = getattr(partition, "partition_index", None)
            yield Named(name, partition.partition if index is None else index, partition)


def fetched(exchange: Exchange) -> dict[tuple[str, int], tuple[Any, Any]]:
    """Returns the partitions of a Fetch with their parts of the request and of the response, as far as both name them."""
    response: Any = exchange.partial_response
    asked = {each.key: each.fields for each in named(getattr(exchange.partial_request, "topics", None), exchange)}
    answered = named(getattr(response, "responses", None), exchange)
    return {each.key: (asked[each.key], each.fields) for each in answered if each.key in asked}
