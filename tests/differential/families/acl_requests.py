"""Requests of all APIs whose answers depend on access rights, for the family `acls`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from odradek.broker.security.acls import ResourceType
from odradek.protocol.messages import APIS
from odradek.protocol.schema import ZERO_UUID, Api

from ..case import id_of
from ..requests import batch_of
from . import share_acl_requests

APIS_BY_NAME = {api.name: api for api in APIS.values()}
SHARED, OTHER = "acls.shared", "acls.other"
"""Topics that are not changed by any request."""

TOPICS, GROUPS, CLUSTERS = (ResourceType.TOPIC,), (ResourceType.GROUP,), (ResourceType.CLUSTER,)


class GuardedRequest(NamedTuple):
    """A request of one API and version whose answer depends on rights on `types`.

    `fields` returns the fields of the request for the name of a case. `own_topic` is set for requests that change their topic.
    """

    name: str
    api: Api
    version: int
    types: tuple[ResourceType, ...]
    fields: Callable[[str], Mapping[str, Any]]
    own_topic: bool = False


def requests() -> Iterator[GuardedRequest]:
    for rows in (_records(), _topics(), _groups(), share_acl_requests.rows(SHARED, OTHER), _transactions(), _cluster()):
        for api_name, versions, what, types, fields, *own_topic in rows:
            api = APIS_BY_NAME[api_name]
            for version in versions:
                yield GuardedRequest(f"{api_name}.v{version}{what}", api, version, types, fields, bool(own_topic))


Row = tuple[Any, ...]


def streams_heartbeat(group: str, source: str, changelog: str | None = None) -> Mapping[str, Any]:
    """Returns the fields of the first heartbeat of a streams member; a changelog topic is created with the rights of the client."""
    changelogs = [{"name": changelog, "partitions": 0, "replication_factor": 1, "topic_configs": []}] if changelog else []
    nothing = ("source_topic_regex", "repartition_sink_topics", "repartition_source_topics", "copartition_groups")
    part = {"subtopology_id": "0", "source_topics": [source], "state_changelog_topics": changelogs, **{name: [] for name in nothing}}
    tasks: dict[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
    member = {"group_id": group, "member_id": "m", "member_epoch": 0, "endpoint_information_epoch": 0, "rebalance_timeout_ms": 600_000}
    return {**member, **tasks, "process_id": "p", "client_tags": [], "topology": {"epoch": 0, "subtopologies": [part]}}


def _records() -> Iterator[Row]:
    batch, transactional = batch_of(b"a"), batch_of(b"a", producer_id=900, producer_epoch=0, base_sequence=0, is_transactional=True)

    def produce(records: bytes, transactional_id: str | None, topic: str) -> Mapping[str, Any]:
        data = {"name": topic, "partition_data": [{"index": 0, "records": records}, {"index": 7, "records": records}]}
        return {"transactional_id": transactional_id, "acks": -1, "timeout_ms": 1000, "topic_data": [data]}

    def fetch(*topics: str, **fields: Any) -> Mapping[str, Any]:
        wanted = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}]
        return {"max_wait_ms": 0, "min_bytes": 0, "topics": [{"topic": topic, "partitions": wanted} for topic in topics], **fields}

    epochs = [{"partition": 0, "leader_epoch": 0}]
    yield "Produce", (3, 9, 13), "", TOPICS, lambda name: produce(batch, None, name), True
    yield "Produce", (9, 13), ".nobody", TOPICS, lambda name: produce(batch, None, "nobody")
    yield (
        "Produce",
        (9,),
        ".transactional",
        (ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID),
        lambda name: produce(transactional, name, SHARED),
    )
    yield "Fetch", (4, 12, 17), "", TOPICS, lambda name: fetch("nobody", SHARED)
    yield "Fetch", (12,), ".follower", (ResourceType.TOPIC, ResourceType.CLUSTER), lambda name: fetch(SHARED, replica_id=2)
    yield (
        "ListOffsets",
        (10,),
        "",
        TOPICS,
        lambda name: {
            "replica_id": -1,
            "topics": [{"name": topic, "partitions": [{"partition_index": 0, "timestamp": -1}]} for topic in (SHARED, "nobody")],
        },
    )
    yield (
        "OffsetForLeaderEpoch",
        (4,),
        "",
        (ResourceType.TOPIC, ResourceType.CLUSTER),
        lambda name: {"topics": [{"topic": topic, "partitions": epochs} for topic in (SHARED, "nobody")]},
    )
    yield (
        "DeleteRecords",
        (2,),
        "",
        TOPICS,
        lambda name: {
            "topics": [{"name": topic, "partitions": [{"partition_index": 0, "offset": 0}]} for topic in (SHARED, "nobody")],
            "timeout_ms": 1000,
        },
    )
    yield (
        "DescribeProducers",
        (0,),
        "",
        TOPICS,
        lambda name: {"topics": [{"name": topic, "partition_indexes": [0]} for topic in (SHARED, "nobody")]},
    )


def _topics() -> Iterator[Row]:
    def metadata(*names: str, **fields: Any) -> Mapping[str, Any]:
        return {"topics": [{"name": name, "topic_id": ZERO_UUID} for name in names], "allow_auto_topic_creation": True, **fields}

    def created(name: str) -> Mapping[str, Any]:
        topic = {"num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
        return {"topics": [{"name": f"{name}.new", **topic}, {"name": "__cluster_metadata", **topic}], "timeout_ms": 5000}

    yield (
        "Metadata",
        (1, 9, 12),
        "",
        (ResourceType.TOPIC, ResourceType.CLUSTER),
        lambda name: metadata(SHARED, "nobody", include_topic_authorized_operations=True),
    )
    yield (
        "Metadata",
        (10,),
        ".operations",
        (ResourceType.TOPIC, ResourceType.CLUSTER),
        lambda name: metadata(SHARED, include_cluster_authorized_operations=True),
    )
    yield (
        "Metadata",
        (12,),
        ".by-id",
        TOPICS,
        lambda name: {"topics": [{"name": None, "topic_id": id_of(SHARED)}, {"name": None, "topic_id": id_of("nobody")}]},
    )
    yield "DescribeTopicPartitions", (0,), "", TOPICS, lambda name: {"topics": [{"name": SHARED}, {"name": "nobody"}]}
    yield "CreateTopics", (4,), "", (ResourceType.TOPIC, ResourceType.CLUSTER), created
    yield (
        "DeleteTopics",
        (3,),
        "",
        (ResourceType.TOPIC, ResourceType.CLUSTER),
        lambda name: {"topic_names": [name, "nobody"], "timeout_ms": 5000},
        True,
    )
    yield (
        "DeleteTopics",
        (6,),
        "",
        (ResourceType.TOPIC, ResourceType.CLUSTER),
        lambda name: {
            "topics": [{"name": None, "topic_id": id_of(name)}, {"name": None, "topic_id": id_of("nobody")}],
            "timeout_ms": 5000,
        },
        True,
    )
    yield (
        "CreatePartitions",
        (3,),
        "",
        TOPICS,
        lambda name: {
            "topics": [{"name": topic, "count": 3, "assignments": None} for topic in (SHARED, "nobody")],
            "timeout_ms": 5000,
            "validate_only": True,
        },
    )
    resources = [(2, SHARED), (2, "nobody"), (4, "1"), (32, "group")]
    yield (
        "DescribeConfigs",
        (4,),
        "",
        (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER),
        lambda name: {
            "resources": [
                {
                    "resource_type": kind,
                    "resource_name": each,
                    "configuration_keys": ["num.partitions", "retention.ms", "consumer.session.timeout.ms"],
                }
                for kind, each in resources
            ]
        },
    )
    settings = {2: ("retention.ms", "1"), 4: ("log.retention.ms", "-1"), 32: ("consumer.session.timeout.ms", "45000")}
    yield (
        "AlterConfigs",
        (2,),
        "",
        (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER),
        lambda name: {
            "resources": [
                {"resource_type": kind, "resource_name": each, "configs": [{"name": settings[kind][0], "value": settings[kind][1]}]}
                for kind, each in resources
            ],
            "validate_only": True,
        },
    )
    yield (
        "IncrementalAlterConfigs",
        (1,),
        "",
        (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER),
        lambda name: {
            "resources": [
                {
                    "resource_type": kind,
                    "resource_name": each,
                    "configs": [{"name": settings[kind][0], "config_operation": 0, "value": settings[kind][1]}],
                }
                for kind, each in resources
            ],
            "validate_only": True,
        },
    )


def _groups() -> Iterator[Row]:
    def commit(name: str, **fields: Any) -> Mapping[str, Any]:
        partitions = [
            {"partition_index": index, "committed_offset": 1, "committed_metadata": None, "committed_leader_epoch": -1} for index in (0, 7)
        ]
        topics = [{"name": topic, "partitions": partitions} for topic in ("nobody", SHARED, OTHER)]
        return {"group_id": name, "member_id": "", "generation_id_or_member_epoch": -1, "topics": topics, **fields}

    def fetch(*topics: str) -> list[Any]:
        return [{"name": topic, "partition_indexes": [0]} for topic in topics]

    group_and_topic = (ResourceType.GROUP, ResourceType.TOPIC)
    yield "OffsetCommit", (2, 9, 10), "", group_and_topic, commit
    yield "OffsetFetch", (1, 7), "", group_and_topic, lambda name: {"group_id": "committed", "topics": fetch("nobody", SHARED)}
    yield "OffsetFetch", (7,), ".all", group_and_topic, lambda name: {"group_id": "committed", "topics": None}
    for version in (8, 10):
        yield (
            "OffsetFetch",
            (version,),
            "",
            group_and_topic,
            lambda name: {"groups": [{"group_id": "committed", "topics": fetch("nobody", SHARED)}]},
        )
    yield "OffsetFetch", (9,), ".all", group_and_topic, lambda name: {"groups": [{"group_id": "committed", "topics": None}]}
    yield (
        "OffsetDelete",
        (0,),
        "",
        group_and_topic,
        lambda name: {
            "group_id": "committed",
            "topics": [{"name": topic, "partitions": [{"partition_index": 7}]} for topic in (SHARED, "nobody")],
        },
    )
    yield "FindCoordinator", (3,), ".group", GROUPS, lambda name: {"key": name, "key_type": 0}
    yield "FindCoordinator", (6,), ".group", GROUPS, lambda name: {"coordinator_keys": [name], "key_type": 0}
    protocols = [{"name": "range", "metadata": b""}]
    joining = {
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": protocols,
    }
    yield "JoinGroup", (5, 9), "", GROUPS, lambda name: {"group_id": name, **joining}
    yield (
        "SyncGroup",
        (5,),
        "",
        GROUPS,
        lambda name: {
            "group_id": name,
            "generation_id": 1,
            "member_id": "m",
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": [],
        },
    )
    yield "Heartbeat", (4,), "", GROUPS, lambda name: {"group_id": name, "generation_id": 1, "member_id": "m"}
    yield "LeaveGroup", (2,), "", GROUPS, lambda name: {"group_id": name, "member_id": "m"}
    yield "LeaveGroup", (5,), "", GROUPS, lambda name: {"group_id": name, "members": [{"member_id": "m"}]}
    yield "DescribeGroups", (3, 6), "", GROUPS, lambda name: {"groups": ["committed", "nobody"], "include_authorized_operations": True}
    yield (
        "ListGroups",
        (5,),
        "",
        (ResourceType.GROUP, ResourceType.CLUSTER),
        lambda name: {"states_filter": ["stable"], "types_filter": ["consumer"]},
    )
    yield "DeleteGroups", (2,), "", GROUPS, lambda name: {"groups_names": [name]}
    yield (
        "ConsumerGroupHeartbeat",
        (1,),
        "",
        group_and_topic,
        lambda name: {
            "group_id": name,
            "member_id": "m",
            "member_epoch": 0,
            "rebalance_timeout_ms": 1000,
            "topic_partitions": [],
            "subscribed_topic_names": [SHARED, "nobody"],
        },
    )
    yield (
        "ConsumerGroupDescribe",
        (1,),
        "",
        group_and_topic,
        lambda name: {
            "group_ids": ["consuming", "nobody"],
            "include_authorized_operations": True,
        },
    )


def _transactions() -> Iterator[Row]:
    def adding(transactional_id: str, *topics: str) -> Mapping[str, Any]:
        producer = {"v3_and_below_transactional_id": transactional_id, "v3_and_below_producer_id": 900, "v3_and_below_producer_epoch": 0}
        return {**producer, "v3_and_below_topics": [{"name": topic, "partitions": [0]} for topic in topics]}

    producer = {"producer_id": 900, "producer_epoch": 0}
    transactional = (ResourceType.TRANSACTIONAL_ID,)
    committing = [{"partition_index": 0, "committed_offset": 1, "committed_metadata": None}]
    streams_types = (ResourceType.GROUP, ResourceType.TOPIC, ResourceType.CLUSTER)
    yield "StreamsGroupHeartbeat", (0,), "", streams_types, lambda name: streams_heartbeat(name, SHARED)
    yield "StreamsGroupHeartbeat", (0,), ".creating", streams_types, lambda name: streams_heartbeat(name, SHARED, f"{name}-store")
    yield "StreamsGroupDescribe", (0,), "", streams_types, lambda name: {"group_ids": ["streaming"], "include_authorized_operations": True}
    yield "FindCoordinator", (4,), ".transaction", transactional, lambda name: {"coordinator_keys": [name], "key_type": 1}
    yield "InitProducerId", (5,), ".transactional", transactional, lambda name: {"transactional_id": name, "transaction_timeout_ms": 1000}
    yield (
        "InitProducerId",
        (5,),
        ".idempotent",
        (ResourceType.TOPIC, ResourceType.CLUSTER),
        lambda name: {"transactional_id": None, "transaction_timeout_ms": 1000},
    )
    yield "AddPartitionsToTxn", (3,), "", (ResourceType.TRANSACTIONAL_ID, ResourceType.TOPIC), lambda name: adding(name, SHARED)
    yield (
        "AddPartitionsToTxn",
        (3,),
        ".nobody",
        (ResourceType.TRANSACTIONAL_ID, ResourceType.TOPIC),
        lambda name: adding(name, SHARED, "nobody", "__consumer_offsets"),
    )
    yield (
        "AddPartitionsToTxn",
        (5,),
        "",
        (ResourceType.TRANSACTIONAL_ID, ResourceType.CLUSTER),
        lambda name: {"transactions": [{"transactional_id": name, **producer, "topics": [{"name": SHARED, "partitions": [0]}]}]},
    )
    yield (
        "AddOffsetsToTxn",
        (4,),
        "",
        (ResourceType.TRANSACTIONAL_ID, ResourceType.GROUP),
        lambda name: {"transactional_id": name, **producer, "group_id": name},
    )
    yield "EndTxn", (5,), "", transactional, lambda name: {"transactional_id": name, **producer, "committed": True}
    yield (
        "TxnOffsetCommit",
        (3, 5),
        "",
        (ResourceType.TRANSACTIONAL_ID, ResourceType.GROUP, ResourceType.TOPIC),
        lambda name: {
            "transactional_id": name,
            "group_id": name,
            **producer,
            "topics": [{"name": topic, "partitions": committing} for topic in (SHARED, "nobody")],
        },
    )
    yield (
        "WriteTxnMarkers",
        (1,),
        "",
        CLUSTERS,
        lambda name: {
            "markers": [
                {**producer, "transaction_result": False, "topics": [{"name": "nobody", "partition_indexes": [0]}], "coordinator_epoch": 0}
            ]
        },
    )
    yield (
        "DescribeTransactions",
        (0,),
        "",
        (ResourceType.TRANSACTIONAL_ID, ResourceType.TOPIC),
        lambda name: {"transactional_ids": ["known", "nobody"]},
    )
    yield (
        "ListTransactions",
        (2,),
        "",
        transactional,
        lambda name: {
            "state_filters": ["Empty"],
            "producer_id_filters": [],
            "transactional_id_pattern": "kno.*",
        },
    )


def _cluster() -> Iterator[Row]:
    one = {"resource_type_filter": 6, "resource_name_filter": "nothing", "principal_filter": None, "host_filter": None}
    wanted = {**one, "operation": 1, "permission_type": 1}
    upsertion = {"name": "", "mechanism": 1, "iterations": 4096, "salt": b"s", "salted_password": b"p"}
    yield "DescribeAcls", (3,), "", CLUSTERS, lambda name: wanted
    yield (
        "CreateAcls",
        (3,),
        "",
        CLUSTERS,
        lambda name: {
            "creations": [
                {"resource_type": 6, "resource_name": "", "principal": "User:a", "host": "*", "operation": 8, "permission_type": 3}
            ]
        },
    )
    yield "DeleteAcls", (3,), "", CLUSTERS, lambda name: {"filters": [wanted]}
    yield (
        "AlterReplicaLogDirs",
        (2,),
        "",
        CLUSTERS,
        lambda name: {"dirs": [{"path": "/nowhere", "topics": [{"name": "nobody", "partitions": [0]}]}]},
    )
    yield "DescribeLogDirs", (2, 3), "", CLUSTERS, lambda name: {"topics": [{"topic": SHARED, "partitions": [0]}]}
    yield "ElectLeaders", (2,), "", CLUSTERS, lambda name: {"election_type": 0, "topic_partitions": [{"topic": SHARED, "partitions": [0]}]}
    yield (
        "AlterPartitionReassignments",
        (0,),
        "",
        CLUSTERS,
        lambda name: {"topics": [{"name": SHARED, "partitions": [{"partition_index": 0, "replicas": None}]}]},
    )
    yield "ListPartitionReassignments", (0,), "", CLUSTERS, lambda name: {"topics": None}
    yield "DescribeClientQuotas", (1,), "", CLUSTERS, lambda name: {"components": [], "strict": False}
    entry = {"entity": [{"entity_type": "user", "entity_name": "u"}], "ops": [{"key": "no_such", "value": 1.0, "remove": False}]}
    yield "AlterClientQuotas", (0, 1), "", CLUSTERS, lambda name: {"entries": [entry], "validate_only": True}
    feature = {"feature": "transaction.version", "max_version_level": 2}
    yield "UpdateFeatures", (0, 2), "", CLUSTERS, lambda name: {"feature_updates": [feature]}
    yield "UnregisterBroker", (0,), "", CLUSTERS, lambda name: {"broker_id": 9}
    voter = {"cluster_id": None, "voter_id": 9, "voter_directory_id": bytes(range(16))}
    yield "AddRaftVoter", (0,), "", CLUSTERS, lambda name: {**voter, "timeout_ms": 100, "listeners": []}
    yield "RemoveRaftVoter", (0,), "", CLUSTERS, lambda name: voter
    yield "CreateDelegationToken", (3,), "", CLUSTERS, lambda name: {"renewers": [], "max_lifetime_ms": -1}
    yield "DescribeDelegationToken", (3,), "", CLUSTERS, lambda name: {"owners": None}
    yield "SaslHandshake", (1,), "", CLUSTERS, lambda name: {"mechanism": "PLAIN"}
    yield "DescribeUserScramCredentials", (0,), "", CLUSTERS, lambda name: {"users": [{"name": "nobody"}]}
    yield "AlterUserScramCredentials", (0,), "", CLUSTERS, lambda name: {"deletions": [], "upsertions": [upsertion]}
    yield "DescribeQuorum", (2,), "", CLUSTERS, lambda name: {"topics": [{"topic_name": "nobody", "partitions": [{"partition_index": 0}]}]}
    yield "DescribeCluster", (2,), "", CLUSTERS, lambda name: {"include_cluster_authorized_operations": True}
    yield "ListConfigResources", (1,), "", CLUSTERS, lambda name: {"resource_types": [16]}
