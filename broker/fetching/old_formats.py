"""Fetched records in older formats: for clients that cannot read record batches, and of topics that keep older messages.

The formats of a client follow from the version of its request: up to v1 it reads format 0, up to v3 format 1 (Kafka's
KafkaApis.maybeConvertFetchedData). Brokers convert records for it unless `message.downconversion.enable` is false.
"""

from __future__ import annotations

from typing import cast

from ...protocol.batches.down_conversion import as_stored, down_convert
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.fetch import PartitionData
from ..releases.release import Release
from ..settings.values import BATCHES, TopicConfig
from .read import FetchRead

ZSTD_SINCE = 10
"""The first version of Fetch that may return batches in zstd (KIP-110)."""

NULL_RECORDS_SINCE = (3, 0)


def convert(read: FetchRead) -> None:
    """Replaces the records of a response, or refuses partitions that the client cannot read."""
    for partition, found in read.partitions.items():
        if found is None or found.data.error_code:
            continue
        config, data = partition.topic.config, found.data
        try:
            if read.context.version < ZSTD_SINCE and config.texts["compression.type"] == "zstd":
                raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
            if data.records:
                data.records = _convert(cast("list[memoryview]", data.records), config, read.context.version, found.wanted.fetch_offset)
        except KafkaError as error:
            _refuse(data, error.code, read.context.cluster.release)


def _convert(records: list[memoryview], config: TopicConfig, version: int, offset: int) -> list[memoryview]:
    stored, readable = config.message_format, _readable(version)
    if stored > readable:
        if not config.booleans["message.downconversion.enable"]:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
        return [memoryview(down_convert(records, readable, offset))]
    return records if stored == BATCHES else [memoryview(as_stored(records, stored, offset))]


def _readable(version: int) -> int:
    return 0 if version <= 1 else 1 if version <= 3 else BATCHES


def _refuse(data: PartitionData, code: ErrorCode, release: Release | None) -> None:
    """Replaces the data of a partition by an error. From 3.0 on, records are then null and aborted transactions an empty list."""
    with_null = release is not None and release.number >= NULL_RECORDS_SINCE
    data.error_code, data.records, data.aborted_transactions = code, None if with_null else b"", [] if with_null else None
    data.high_watermark = data.last_stable_offset = data.log_start_offset = -1
