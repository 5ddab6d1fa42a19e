"""Refuses records without a known schema, as Confluent Server does for topics with `confluent.value.schema.validation`.

A key or value must begin with the byte 0 and the id of a schema (Confluent's wire format) that the schema registry of the cluster has in a
subject with the name that the topic's strategy gives. Null needs no schema.

A batch of many records is checked in slices before it is appended (`check_in_slices`), because a small request may contain millions of
compressed records. Only one such batch of a cluster is checked at a time, because its decompressed records stay in memory meanwhile.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from ...protocol.batches.batch_validation import validate_batch
from ...protocol.batches.checks import RejectedRecords
from ...protocol.batches.records import RecordBatch
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.produce import PartitionProduceData, TopicProduceData
from ...protocol.schema import ProtocolError
from ..api.context import Context, find_topic
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation
from ..topics.partition import Partition
from .batch_checks import RECORDS_PER_SLICE, AppendRules, SchemaRules, is_large

if TYPE_CHECKING:
    from ..cluster.state import ClusterState

HEADER = struct.Struct(">bI")
CHECK = "the check of another large batch for schemas"
"""The key of requests that wait for this check."""
MAX_ERRORS = 1000
"""The most records that a response names. Records behind the last of them are not read."""

SubjectsOf = Callable[[int], Collection[str]]
"""Returns the subjects that have the schema with an id; none if the id is unknown."""


def demand_schemas(partition: Partition, batch: memoryview, rules: SchemaRules, context: Context) -> None:
    """Raises RejectedRecords for a batch with records without a schema, from the result of `check_in_slices` if there is one."""
    if partition not in context.schema_checks:
        check_schemas(batch, partition.topic.name, rules, context.cluster.subjects_of_schema)
    elif (error := context.schema_checks[partition]) is not None:
        raise error


def check_schemas(batch: memoryview, topic: str, rules: SchemaRules, subjects_of: SubjectsOf) -> None:
    """Raises RejectedRecords, with an error for each record whose key or value has no schema that fits."""
    for _ in _slices(batch, topic, rules, subjects_of):
        pass


def _slices(batch: memoryview, topic: str, rules: SchemaRules, subjects_of: SubjectsOf) -> Iterator[None]:
    """Checks the records of a batch, RECORDS_PER_SLICE in each step. Raises RejectedRecords at the end, and InvalidRecords."""
    complaints: dict[tuple[str, bytes | None], str | None] = {}
    errors = []
    for number, record in enumerate(RecordBatch(batch).records()):
        if number % RECORDS_PER_SLICE == RECORDS_PER_SLICE - 1:
            yield
        for part, strategy, data in (("key", rules.key, record.key), ("value", rules.value, record.value)):
            if strategy is None or data is None:
                continue
            start = (part, bytes(data[: HEADER.size]))
            if start not in complaints:
                complaints[start] = _complaint(part, start[1], topic, strategy, subjects_of)
            if (complaint := complaints[start]) is not None:
                errors.append((number, ErrorCode.INVALID_RECORD, complaint))
                break
        if len(errors) == MAX_ERRORS:
            break
    if errors:
        raise RejectedRecords(errors)


# Large batches


def find_large_batches(topics: list[TopicProduceData], context: Context) -> list[tuple[Partition, PartitionProduceData]]:
    """Returns the batches of a Produce request that are to be checked in slices, with their partitions."""
    found = []
    for topic_data in topics:
        for data in topic_data.partition_data:
            partition = _led_partition(topic_data, data, context) if is_large(data.records) else None
            if partition is not None and AppendRules.cached(partition.topic.config).schemas is not None:
                found.append((partition, data))
    return found


def _led_partition(topic_data: TopicProduceData, data: PartitionProduceData, context: Context) -> Partition | None:
    """Returns the partition of a batch, None if this node may not append to it."""
    try:
        partition = find_topic(context, Operation.WRITE, topic_data.name, topic_data.topic_id).partition(data.index)
    except KafkaError:
        return None
    return partition if partition is not None and partition.leader == context.broker.node_id else None


def check_in_slices(
    large: list[tuple[Partition, PartitionProduceData]], cluster: ClusterState
) -> Generator[Wait, None, dict[Partition, RejectedRecords | None]]:
    """Returns the errors of each batch, None for one without. Invalid batches are left out, because `append` refuses them."""
    results: dict[Partition, RejectedRecords | None] = {}
    while cluster.checks_schemas:
        yield Wait((CHECK,), what=CHECK)
    cluster.checks_schemas = True
    try:
        for partition, data in large:
            with suppress(ProtocolError):
                results[partition] = yield from _check_in_slices(partition, cast(memoryview, data.records), cluster.subjects_of_schema)
    finally:
        cluster.checks_schemas = False
        cluster.wake(CHECK)
    return results


def _check_in_slices(partition: Partition, batch: memoryview, subjects_of: SubjectsOf) -> Generator[Wait, None, RejectedRecords | None]:
    """Returns the errors of a batch. Raises ProtocolError for an invalid batch."""
    rules = AppendRules.cached(partition.topic.config)
    validate_batch(batch, rules.max_message_bytes)
    try:
        for _ in _slices(batch, partition.topic.name, rules.schemas or SchemaRules(None, None), subjects_of):
            yield NEXT_TURN
    except RejectedRecords as error:
        return error
    return None


def _complaint(part: str, start: bytes, topic: str, strategy: str, subjects_of: SubjectsOf) -> str | None:
    """Returns what is wrong with a key or value that begins with `start`, None if it has a schema."""
    if len(start) < HEADER.size or start[0] != 0:
        return f"the {part} does not begin with the byte 0 and a schema id, which confluent.{part}.schema.validation requires"
    schema_id = HEADER.unpack(start)[1]
    subjects = subjects_of(schema_id)
    if not subjects:
        return f"the {part} has the schema id {schema_id}, which the schema registry does not have"
    if strategy.endswith(".TopicNameStrategy") and f"{topic}-{part}" not in subjects:
        return f"the {part} has the schema id {schema_id}, which is not registered for the subject {topic}-{part}"
    if strategy.endswith(".TopicRecordNameStrategy") and not any(subject.startswith(f"{topic}-") for subject in subjects):
        return f"the {part} has the schema id {schema_id}, which is not registered for a subject that begins with {topic}-"
    return None
