"""How one record batch gets into one partition: the checks in Kafka's order (Partition, UnifiedLog, ProducerAppendInfo), and the append."""

from __future__ import annotations

from struct import Struct

from ...protocol.compression import Compression
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.records import TIMESTAMP_TYPE_BIT, BatchError, BatchHeader, validate_batch, write_crc
from ...storage.producers import Duplicate, OutOfOrderSequence, StaleProducerEpoch
from ..context import Context
from ..topics import Partition

ALL_REPLICAS = -1
SEQUENCE_MASK = 0x7FFFFFFF
_ATTRIBUTES = Struct(">h")
_TIMESTAMP = Struct(">q")

REFUSALS = (KafkaError, BatchError, OutOfOrderSequence, StaleProducerEpoch)
"""What `append` raises for a batch that does not get in. Nothing has been changed then."""


def append(partition: Partition, batch: object, acks: int, context: Context) -> Duplicate:
    """Appends a batch to a partition that this broker leads, unless it is there already: where it is, and its log_append_time_ms."""
    topic = partition.topic
    if acks == ALL_REPLICAS and len(partition.isr) < partition.min_isr:
        raise KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS, f"{len(partition.isr)} in-sync replicas, min.insync.replicas is {partition.min_isr}"
        )
    if not isinstance(batch, memoryview):
        raise KafkaError(ErrorCode.INVALID_RECORD, "no record batch")
    header = validate_batch(batch, topic.config.integers["max.message.bytes"])
    batch = batch[: header.size]
    if header.attributes & 7 == Compression.ZSTD and context.version < 7:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce v7")
    last_sequence = header.base_sequence + header.last_offset_delta & SEQUENCE_MASK
    producer_id, epoch, now_ms = header.producer_id, header.producer_epoch, context.now_ms
    if producer_id >= 0:
        duplicate = partition.producers.check(producer_id, epoch, header.base_sequence, last_sequence, now_ms)
        if duplicate:
            return duplicate
    append_time = _stamp(batch, header, topic.config.texts["message.timestamp.type"], now_ms)
    base_offset = partition.log.append(batch, partition.leader_epoch, owned=context.owns_buffer)
    if producer_id >= 0:
        last_offset = base_offset + header.last_offset_delta
        partition.producers.record(producer_id, epoch, header.base_sequence, last_sequence, base_offset, last_offset, append_time, now_ms)
    context.wake(partition)
    return Duplicate(base_offset, append_time)


def _stamp(batch: memoryview, header: BatchHeader, timestamp_type: str, now_ms: int) -> int:
    """Writes the time into the batch where the topic says so, with its new CRC; the answer's log_append_time_ms, -1 for CreateTime."""
    if timestamp_type == "CreateTime":
        if header.attributes & TIMESTAMP_TYPE_BIT:
            _ATTRIBUTES.pack_into(batch, 21, header.attributes & ~TIMESTAMP_TYPE_BIT)
            write_crc(batch)
        return -1
    _ATTRIBUTES.pack_into(batch, 21, header.attributes | TIMESTAMP_TYPE_BIT)
    _TIMESTAMP.pack_into(batch, 35, now_ms)
    write_crc(batch)
    return now_ms
