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
    return KafkaCondition("KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE", DATA_LOSS + text)


def partitions_do_not_match(specified: Iterable[TopicPartition], assigned: Iterable[TopicPartition]) -> KafkaCondition:
    """Offsets were given for other partitions than there are. It says "start" for ending offsets too, as Spark does."""
    return KafkaCondition(
        "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED",
        f"Partitions specified for Kafka start offsets don't match what are assigned. Specified: {_set_of(specified)} "
        f"Assigned: {_set_of(assigned)}",
    )


def start_after_end(partition: TopicPartition, start: int, end: int, *, resolved: bool) -> KafkaCondition:
    """The range is upside down, as the user gave it or as it is in the log."""
    if resolved:
        condition, kind = "RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET", "resolved"
    else:
        condition, kind = "UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET", "specified"
    the_end = "the resolved end offset" if resolved else "the end offset"
    text = f"The {kind} start offset {start} is greater than {the_end} {end} for topic {partition.topic} partition {partition.partition}."
    return KafkaCondition(condition, text)


def _set_of(partitions: Iterable[TopicPartition]) -> str:
    return f"Set({', '.join(map(str, sorted(partitions)))})"
