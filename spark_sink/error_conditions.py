"""What goes wrong with the data, under the names and in the words that users of Spark's own Kafka source know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from .client import TopicPartition

DATA_LOSS = (
    "Some data may have been lost because they are not available in Kafka any more; to read what is left, set the source option "
    "failOnDataLoss to false. Reason: "
)


class KafkaCondition(RuntimeError):
    """One of Spark's error conditions about Kafka; its name stands before the text."""

    def __init__(self, condition: str, text: str) -> None:
        super().__init__(f"[{condition}] {text}")
        self.condition = condition

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.condition, str(self).removeprefix(f"[{self.condition}] "))


def could_not_read(partition: TopicPartition, start: int, end: int) -> KafkaCondition:
    """The log does not hold what was asked for."""
    text = f"Could not read records in offset [{start}, {end}) for topic partition {partition}."
    return _data_loss("COULD_NOT_READ_OFFSET_RANGE", text)


def partitions_do_not_match(specified: Iterable[TopicPartition], assigned: Iterable[TopicPartition]) -> KafkaCondition:
    """Offsets were given for other partitions than there are. It says "start" for ending offsets too, as Spark does."""
    return KafkaCondition(
        "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED",
        f"Partitions specified for Kafka start offsets don't match what are assigned. Specified: {set_of(specified)} "
        f"Assigned: {set_of(assigned)}",
    )


def times_do_not_match(specified: Iterable[TopicPartition], assigned: Iterable[TopicPartition]) -> KafkaCondition:
    """Times were given for other partitions than there are."""
    return KafkaCondition(
        "KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED",
        "Partitions specified for Kafka timestamp based start offsets don't match what are assigned, or you didn't specify all the "
        f"partitions. Specified: {set_of(specified)} Assigned: {set_of(assigned)}",
    )


def offset_changed(partition: TopicPartition, start: int, end: int) -> KafkaCondition:
    """A stream's partition ends before where the last batch ended."""
    text = f"Partition {partition} offset was changed from {start} to {end}. This could be either 1) because the topic was deleted and "
    return _data_loss("PARTITION_OFFSET_CHANGED", text + "created anew, or 2) because the checkpoint is of another cluster or topic.")


def partitions_deleted(partitions: Iterable[TopicPartition]) -> KafkaCondition:
    """A stream has read from partitions that it does not find any more."""
    return _data_loss("PARTITIONS_DELETED", f"Partitions {set_of(partitions)} have been deleted.")


def added_partition_starts_late(partition: TopicPartition, offset: int) -> KafkaCondition:
    """What a new partition had first was deleted before the stream saw it."""
    text = f"Added partition {partition} starts from {offset} instead of 0."
    return _data_loss("ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO", text)


def initial_offsets_not_found(partitions: Iterable[TopicPartition]) -> KafkaCondition:
    """A batch that was planned before contains partitions that are not there any more, or are not subscribed to."""
    text = f"Cannot find initial offsets for partitions {set_of(partitions)}. They may have been deleted."
    return _data_loss("INITIAL_OFFSET_NOT_FOUND_FOR_PARTITIONS", text)


def _data_loss(condition: str, text: str) -> KafkaCondition:
    return KafkaCondition(f"KAFKA_DATA_LOSS.{condition}", DATA_LOSS + text)


def start_after_end(partition: TopicPartition, start: int, end: int, *, resolved: bool) -> KafkaCondition:
    """The range is upside down, as the user gave it or as it is in the log."""
    if resolved:
        condition, kind = "RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET", "resolved"
    else:
        condition, kind = "UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET", "specified"
    the_end = "the resolved end offset" if resolved else "the end offset"
    text = f"The {kind} start offset {start} is greater than {the_end} {end} for topic {partition.topic} partition {partition.partition}."
    return KafkaCondition(condition, text)


def null_topic() -> KafkaCondition:
    """There is no `topic` option, and a row names no topic either."""
    text = "The rows to write contain a null topic. Use the `topic` option for setting a default topic."
    return KafkaCondition("KAFKA_NULL_TOPIC_IN_DATA", text)


def set_of(partitions: Iterable[TopicPartition]) -> str:
    """As Spark prints a set."""
    return f"Set({', '.join(map(str, sorted(partitions)))})"
