"""Builders of requests that many families use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.delete_records import DELETE_RECORDS, DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.schema import Api, Message, specs

from .case import Send, id_of


def batch_of(*values: bytes, key: bytes | None = None, **options: Any) -> bytes:
    """Returns a record batch of these values. Timestamps begin at 1000 and increase by one."""
    records = [Record(offset, 1000 + offset, key, value, []) for offset, value in enumerate(values)]
    return bytes(build_batch(records, **options))


def request_of(api: Api, fields: Mapping[str, Any]) -> Message:
    """Returns a request. Nested messages are given as dictionaries; topics without an id get the placeholder of their name."""
    return _message(api.request, fields)


def _message(cls: type[Message], fields: Mapping[str, Any]) -> Message:
    kinds = {spec.name: spec.kind for spec in specs(cls)}
    name = fields.get("name", fields.get("topic"))
    completed = {**fields, "topic_id": id_of(name)} if name and "topic_id" in kinds and "topic_id" not in fields else fields
    return cls(**{name: _value(kinds[name], value) for name, value in completed.items()})


def _value(kind: object, value: Any) -> Any:
    if isinstance(value, list):
        return [_value(kind, item) for item in value]
    return _message(kind, value) if isinstance(value, dict) and isinstance(kind, type) else value


def read(topic: str, *, partition: int = 0, offset: int = 0) -> Send:
    """Returns a Fetch request for a partition that node 1 leads."""
    wanted = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=topic, partitions=[wanted])])
    return Send(FETCH, 12, request)


def produce(topic: str, batch: bytes) -> Send:
    """Returns a Produce request for partition 0."""
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
    return Send(PRODUCE, 9, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[data]))


def delete_records(topic: str, offset: int) -> Send:
    """Returns a DeleteRecords request that advances the start of partition 0."""
    wanted = DeleteRecordsTopic(name=topic, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)])
    return Send(DELETE_RECORDS, 2, DeleteRecordsRequest(topics=[wanted], timeout_ms=1000))
