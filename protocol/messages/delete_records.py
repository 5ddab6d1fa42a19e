"""DeleteRecords (21): deletes the records before an offset.

v2 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, versions


class DeleteRecordsRequest(Message):
    flexible_from = 2
    topics: list[DeleteRecordsTopic]
    timeout_ms: Int32


class DeleteRecordsTopic(Message):
    name: str
    partitions: list[DeleteRecordsPartition]


class DeleteRecordsPartition(Message):
    partition_index: Int32
    offset: Int64


class DeleteRecordsResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    topics: list[DeleteRecordsTopicResult]


class DeleteRecordsTopicResult(Message):
    name: str
    partitions: list[DeleteRecordsPartitionResult]


class DeleteRecordsPartitionResult(Message):
    partition_index: Int32
    low_watermark: Int64
    error_code: Int16 = 0


DELETE_RECORDS = Api(21, versions(0, 2), DeleteRecordsRequest, DeleteRecordsResponse)
