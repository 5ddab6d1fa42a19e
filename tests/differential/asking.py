"""Requests that many families need."""

from __future__ import annotations

from typing import Any

from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.record_builder import build_batch
from odradek.protocol.records import Record

from .script import Ask


def a_batch(*values: bytes, key: bytes | None = None, **options: Any) -> bytes:
    """A record batch of these values; timestamps begin at 1000 and go up by one."""
    records = [Record(offset, 1000 + offset, key, value, []) for offset, value in enumerate(values)]
    return bytes(build_batch(records, **options))


def read(topic: str, *, partition: int = 0, offset: int = 0) -> Ask:
    """What is in a partition that node 1 leads, from an offset on."""
    wanted = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=topic, partitions=[wanted])])
    return Ask(FETCH, 12, request)
