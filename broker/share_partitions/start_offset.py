"""The offset at which a share group begins to read a partition (`share.auto.offset.reset`)."""

from __future__ import annotations

import re

from ...protocol.batches.records import RecordBatch
from ...protocol.errors import ErrorCode, KafkaError
from ..topics.partition import Partition

_DURATION = re.compile(r"by_duration:P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_SECONDS = (86_400, 3_600, 60, 1)


def initial_start_offset(partition: Partition, reset: str, now_ms: int) -> int:
    """Returns the first offset for `earliest`, `latest` or `by_duration:` followed by an ISO 8601 duration.

    For a duration, it is that of the first record that is not older. Raises KafkaError with OFFSET_NOT_AVAILABLE if there is none.
    """
    if reset == "earliest":
        return partition.log.start_offset
    duration = _DURATION.fullmatch(reset)
    if duration is None:
        return partition.high_watermark
    seconds = sum(float(number or 0) * factor for number, factor in zip(duration.groups(), _SECONDS, strict=True))
    return _offset_since(partition, now_ms - int(seconds * 1000))


def _offset_since(partition: Partition, timestamp_ms: int) -> int:
    log = partition.log
    view = log.find_timestamp(timestamp_ms, log.start_offset)
    while view is not None:
        batch = RecordBatch(view)
        for record in batch.records():
            if record.timestamp >= timestamp_ms and log.start_offset <= record.offset < partition.high_watermark:
                return record.offset
        view = log.find_timestamp(timestamp_ms, batch.header.last_offset + 1)
    raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)
