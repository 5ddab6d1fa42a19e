"""DescribeLogDirs (35): returns the sizes of the replicas in the log directories of a broker (KIP-113).

v2 added the flexible encoding, v3 a top-level error, v4 the size of the volume (KIP-827), v5 cordoned directories (KIP-1066).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class DescribeLogDirsRequest(Message):
    flexible_from = 2
    topics: list[DescribableLogDirTopic] | None


class DescribableLogDirTopic(Message):
    topic: str
    partitions: list[Int32]


class DescribeLogDirsResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    error_code: Int16 = field(since=3, default=0)
    results: list[DescribeLogDirsResult]


class DescribeLogDirsResult(Message):
    error_code: Int16 = 0
    log_dir: str
    topics: list[DescribeLogDirsTopic]
    total_bytes: Int64 = field(since=4, default=-1)
    usable_bytes: Int64 = field(since=4, default=-1)
    is_cordoned: bool = field(since=5, default=False)


class DescribeLogDirsTopic(Message):
    name: str
    partitions: list[DescribeLogDirsPartition]


class DescribeLogDirsPartition(Message):
    partition_index: Int32
    partition_size: Int64
    offset_lag: Int64
    is_future_key: bool


DESCRIBE_LOG_DIRS = Api(35, versions(1, 5), DescribeLogDirsRequest, DescribeLogDirsResponse, 0)
