"""AlterReplicaLogDirs (34): moves replicas between the log directories of a broker (KIP-113).

v2 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, versions


class AlterReplicaLogDirsRequest(Message):
    flexible_from = 2
    dirs: list[AlterReplicaLogDir]


class AlterReplicaLogDir(Message):
    path: str
    topics: list[AlterReplicaLogDirTopic]


class AlterReplicaLogDirTopic(Message):
    name: str
    partitions: list[Int32]


class AlterReplicaLogDirsResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    results: list[AlterReplicaLogDirTopicResult]


class AlterReplicaLogDirTopicResult(Message):
    topic_name: str
    partitions: list[AlterReplicaLogDirPartitionResult]


class AlterReplicaLogDirPartitionResult(Message):
    partition_index: Int32
    error_code: Int16 = 0


ALTER_REPLICA_LOG_DIRS = Api(34, versions(1, 2), AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, 0)
