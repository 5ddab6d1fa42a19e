"""Which of the partitions that a request about offsets names are there for its client, and which are refused each for itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.schema import ZERO_UUID
from .context import Context
from .lookup import find_topic
from .security.acls import Operation
from .topics.topic import Topic


class NamesPartition(Protocol):
    """One partition in a request."""

    partition_index: int


P = TypeVar("P", bound=NamesPartition)
Key = tuple[str, bytes]
"""A topic as the request names it: by its name and its id, one of which is empty."""


class Found(NamedTuple, Generic[P]):
    """A partition that is there, with what the request says of it."""

    key: Key
    topic: Topic
    wanted: P


Answers = dict[Key, list[tuple[int, ErrorCode]]]
"""By topic, each once: (partition, error)."""


def sort_partitions(topics: Iterable[tuple[Key, Sequence[P]]], context: Context, *, by_id: bool = False) -> tuple[list[Found[P]], Answers]:
    """Tells those that are there, and may be read, from the others, which are answered first, as Kafka does."""
    found: list[Found[P]] = []
    refused: Answers = {}
    for key, partitions in topics:
        try:
            if by_id and key[1] == ZERO_UUID:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
            topic = find_topic(context, Operation.READ, *key)
        except KafkaError as error:
            for wanted in partitions:
                refused.setdefault(key, []).append((wanted.partition_index, error.code))
            continue
        for wanted in partitions:
            if topic.partition(wanted.partition_index) is None:
                refused.setdefault(key, []).append((wanted.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            else:
                found.append(Found(key, topic, wanted))
    return found, refused
