"""Error conditions with the names and texts of Spark's own Kafka source. Each function returns the exception of one condition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from ..protocol.client.connection import TopicPartition

DATA_LOSS = (
    "Some data may have been lost because they are not available in Kafka any more; to read what is left, set the source option "
    "failOnDataLoss to false. Reason: "
)


class KafkaCondition(RuntimeError):
    """A Spark error condition about Kafka. The text starts with the name of the condition in brackets."""

    def __init__(self, condition: str, text: str) -> None:
        super().__init__(f"[{condition}] {text}")
        self.condition = condition

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.condition, str(self).removeprefix(f"[{self.condition}] "))


def could_not_read(partition: TopicPartition, start: int, end: int) -> KafkaCondition:
    """Returns the error for a range of offsets that is not, or no longer, in the log."""
    text = f"Could not read records in offset [{start}, {end}) for topic partition {partition}."
    return _data_loss("COULD_NOT_READ_OFFSET_RANGE", text)


def partitions_do_not_match(specified: Iterable[TopicPartition], assigned: Iterable[TopicPartition]) -> KafkaCondition:
    """Returns the error for offsets of other partitions than those assigned. Like Spark's, it says "start" for ending offsets too."""
    return KafkaCondition(
        "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED",
        f"Partitions specified for Kafka start offsets don't match what are assigned. Specified: {set_of(specified)} "
        f"Assigned: {set_of(assigned)}",
    )


def times_do_not_match(specified: Iterable[TopicPartition], assigned: Iterable[TopicPartition]) -> KafkaCondition:
    """Returns the error for timestamps that name other partitions than those assigned."""
    return KafkaCondition(
        "KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED",
        "Partitions specified for Kafka timestamp based start offsets don't match what are assigned, or you didn't specify all the "
        f"partitions. Specified: {set_of(specified)} Assigned: {set_of(assigned)}",
    )


def offset_changed(partition: TopicPartition, start: int, end: int) -> KafkaCondition:
    """Returns the error for a partition of a stream whose log now ends before the end of the last batch."""
    text = f"Partition {partition} offset was changed from {start} to {end}. This could be either 1) because the topic was deleted and "
    return _data_loss("PARTITION_OFFSET_CHANGED", text + "created again, or 2) because the checkpoint is of another cluster or topic.")


def partitions_deleted(partitions: Iterable[TopicPartition]) -> KafkaCondition:
    """Returns the error for partitions that a stream has read and that no longer exist, or are no longer subscribed to."""
    return _data_loss("PARTITIONS_DELETED", f"Partitions {set_of(partitions)} have been deleted.")


def added_partition_starts_late(partition: TopicPartition, offset: int) -> KafkaCondition:
    """Returns the error for a new partition whose first records were deleted before the stream read them."""
    text = f"Added partition {partition} starts from {offset} instead of 0."
    return _data_loss("ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO", text)


def initial_offsets_not_found(partitions: Iterable[TopicPartition]) -> KafkaCondition:
    """Returns the error for a batch planned earlier whose partitions no longer exist, or are no longer subscribed to."""
    text = f"Cannot find initial offsets for partitions {set_of(partitions)}. They may have been deleted."
    return _data_loss("INITIAL_OFFSET_NOT_FOUND_FOR_PARTITIONS", text)


def _data_loss(condition: str, text: str) -> KafkaCondition:
    return KafkaCondition(f"KAFKA_DATA_LOSS.{condition}", DATA_LOSS + text)


def start_after_end(partition: TopicPartition, start: int, end: int, *, resolved: bool) -> KafkaCondition:
    """Returns the error for a range that starts after its end, by the user's offsets or (`resolved`) by those found in the log."""
    if resolved:
        condition, kind = "RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET", "resolved"
    else:
        condition, kind = "UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET", "specified"
    the_end = "the resolved end offset" if resolved else "the end offset"
    text = f"The {kind} start offset {start} is greater than {the_end} {end} for topic {partition.topic} partition {partition.partition}."
    return KafkaCondition(condition, text)


def null_topic() -> KafkaCondition:
    """Returns the error for a row without a topic when the option `topic` is not set."""
    text = "The rows to write contain a null topic. Use the `topic` option for setting a default topic."
    return KafkaCondition("KAFKA_NULL_TOPIC_IN_DATA", text)


def set_of(partitions: Iterable[TopicPartition]) -> str:
    """Formats partitions as Scala prints a set."""
    return f"Set({', '.join(map(str, sorted(partitions)))})"
