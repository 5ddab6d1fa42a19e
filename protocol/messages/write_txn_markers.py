"""WriteTxnMarkers (27): writes transaction markers into partitions. It is sent by coordinators, and to end hanging transactions.

v2 added the transaction's version (KIP-1228).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Int64, Message, field, versions


class WriteTxnMarkersRequest(Message):
    flexible_from = 1
    markers: list[WritableTxnMarker]


class WritableTxnMarker(Message):
    producer_id: Int64
    producer_epoch: Int16
    transaction_result: bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: Int32
    transaction_version: Int8 = field(since=2, default=0)


class WritableTxnMarkerTopic(Message):
    name: str
    partition_indexes: list[Int32]


class WriteTxnMarkersResponse(Message):
    flexible_from = 1
    markers: list[WritableTxnMarkerResult]


class WritableTxnMarkerResult(Message):
    producer_id: Int64
    topics: list[WritableTxnMarkerTopicResult]


class WritableTxnMarkerTopicResult(Message):
    name: str
    partitions: list[WritableTxnMarkerPartitionResult]


class WritableTxnMarkerPartitionResult(Message):
    partition_index: Int32
    error_code: Int16


WRITE_TXN_MARKERS = Api(27, versions(1, 2), WriteTxnMarkersRequest, WriteTxnMarkersResponse, 0)
