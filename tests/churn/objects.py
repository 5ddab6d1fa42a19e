"""Creates and deletes one object of each kind that a cluster keeps for its clients, except delegation tokens, which need authentication."""

from __future__ import annotations

from typing import Any

from odradek.broker.client.cluster_client import ClusterClient, check
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.alter_client_quotas import ALTER_CLIENT_QUOTAS, AlterClientQuotasRequest, EntityData, EntryData, OpData
from odradek.protocol.messages.alter_user_scram_credentials import (
    ALTER_USER_SCRAM_CREDENTIALS,
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest
from odradek.protocol.messages.create_acls import CREATE_ACLS, AclCreation, CreateAclsRequest
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.messages.delete_acls import DELETE_ACLS, DeleteAclsFilter, DeleteAclsRequest
from odradek.protocol.messages.delete_groups import DELETE_GROUPS, DeleteGroupsRequest
from odradek.protocol.messages.delete_topics import DELETE_TOPICS, DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.messages.end_txn import END_TXN, EndTxnRequest
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.leave_group import LEAVE_GROUP, LeaveGroupRequest, MemberIdentity
from odradek.protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.messages.share_fetch import SHARE_FETCH, AcknowledgementBatch, FetchPartition, FetchTopic, ShareFetchRequest
from odradek.protocol.messages.share_group_heartbeat import SHARE_GROUP_HEARTBEAT, ShareGroupHeartbeatRequest
from odradek.protocol.messages.streams_group_heartbeat import (
    STREAMS_GROUP_HEARTBEAT,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    Topology,
)
from odradek.protocol.schema import ZERO_UUID

TRANSACTION_COORDINATOR = 1
TOPIC, GROUP_RESOURCE, LITERAL, ANY_OPERATION, READ, ALLOW = 2, 3, 3, 1, 3, 3
SCRAM_SHA_256 = 1
SET, DELETE = 0, 1
ACCEPT = 1
MEMBER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
CLIENT_METRICS, GROUP_CONFIG = 16, 32
LEFT = -1


class Objects:
    """The objects with one number. `create` and `delete` raise KafkaError if the cluster refuses one of them."""

    def __init__(self, client: ClusterClient, number: int) -> None:
        self._client, self.name = client, f"churn-{number}"

    def create(self) -> None:
        """Creates all objects; each group has joined members, offsets or both, and each log has records."""
        self._create_topic()
        self._alter_credentials(create=True)
        alter_config(self._client, CLIENT_METRICS, self.name, "interval.ms", "30000")
        alter_config(self._client, GROUP_CONFIG, f"{self.name}-share", "share.auto.offset.reset", "earliest")
        self._alter_quota(1000.0)
        self._create_acl()
        self._write_transaction()
        self._form_classic_group()
        self._form_heartbeat_groups()

    def delete(self) -> None:
        """Deletes all objects that Kafka allows a client to delete. Transactional ids and producer ids expire by themselves."""
        groups = [f"{self.name}-{kind}" for kind in ("classic", "consumer", "share", "streams", "simple")]
        for group in groups:
            response = self._client.send_to(self._client.coordinator(group), DELETE_GROUPS, DeleteGroupsRequest(groups_names=[group]))
            check(response.results[0].error_code, f"deletion of group {group}")
        self._delete_acl()
        self._alter_quota(None)
        alter_config(self._client, GROUP_CONFIG, f"{self.name}-share", "share.auto.offset.reset", None)
        alter_config(self._client, CLIENT_METRICS, self.name, "interval.ms", None)
        self._alter_credentials(create=False)
        state = DeleteTopicState(name=self.name, topic_id=ZERO_UUID)
        request = DeleteTopicsRequest(topics=[state], topic_names=[self.name], timeout_ms=1000)
        check(self._client.any(DELETE_TOPICS, request).responses[0].error_code, "deletion of the topic")

    def _create_topic(self) -> None:
        config = CreatableTopicConfig(name="retention.ms", value="3600000")
        topic = CreatableTopic(name=self.name, num_partitions=2, replication_factor=2, assignments=[], configs=[config])
        response = self._client.any(CREATE_TOPICS, CreateTopicsRequest(topics=[topic]))
        check(response.topics[0].error_code, "creation of the topic", response.topics[0].error_message)
        (described,) = self._client.topics([self.name])
        self._topic_id, self._leader = described.topic_id, described.partitions[0].leader_id

    def _alter_credentials(self, *, create: bool) -> None:
        upsertion = ScramCredentialUpsertion(
            name=self.name, mechanism=SCRAM_SHA_256, iterations=4096, salt=b"salt" * 4, salted_password=b"x" * 32
        )
        deletion = ScramCredentialDeletion(name=self.name, mechanism=SCRAM_SHA_256)
        request = AlterUserScramCredentialsRequest(deletions=[] if create else [deletion], upsertions=[upsertion] if create else [])
        check(self._client.any(ALTER_USER_SCRAM_CREDENTIALS, request).results[0].error_code, "credentials")

    def _alter_quota(self, rate: float | None) -> None:
        operation = OpData(key="producer_byte_rate", value=rate or 0.0, remove=rate is None)
        entry = EntryData(entity=[EntityData(entity_type="user", entity_name=self.name)], ops=[operation])
        response = self._client.any(ALTER_CLIENT_QUOTAS, AlterClientQuotasRequest(entries=[entry], validate_only=False))
        check(response.entries[0].error_code, "quota")

    def _create_acl(self) -> None:
        acl = AclCreation(
            resource_type=TOPIC,
            resource_name=self.name,
            resource_pattern_type=LITERAL,
            principal=f"User:{self.name}",
            host="*",
            operation=READ,
            permission_type=ALLOW,
        )
        response = self._client.any(CREATE_ACLS, CreateAclsRequest(creations=[acl]))
        check(response.results[0].error_code, "ACL", response.results[0].error_message)

    def _delete_acl(self) -> None:
        matching = DeleteAclsFilter(
            resource_type_filter=TOPIC,
            resource_name_filter=self.name,
            pattern_type_filter=LITERAL,
            principal_filter=None,
            host_filter=None,
            operation=ANY_OPERATION,
            permission_type=1,
        )
        (result,) = self._client.any(DELETE_ACLS, DeleteAclsRequest(filters=[matching])).filter_results
        check(result.error_code, "deletion of the ACL", result.error_message)
        assert len(result.matching_acls) == 1, f"{len(result.matching_acls)} ACLs are deleted instead of 1"

    def _write_transaction(self) -> None:
        """Commits a transaction of one record with a transactional id of its own."""
        find = FindCoordinatorRequest(key=self.name, key_type=TRANSACTION_COORDINATOR, coordinator_keys=[self.name])
        node = self._client.retry(lambda: self._coordinator(find))
        init = InitProducerIdRequest(transactional_id=self.name, transaction_timeout_ms=60_000)
        producer = self._client.retry(lambda: _checked(self._client.send_to(node, INIT_PRODUCER_ID, init), "producer id"))
        identity = (producer.producer_id, producer.producer_epoch)
        self._client.retry(lambda: self._write(*identity))  # it also adds the partition to the transaction (KIP-890)
        end = EndTxnRequest(transactional_id=self.name, producer_id=identity[0], producer_epoch=identity[1], committed=True)
        self._client.retry(lambda: _checked(self._client.send_to(node, END_TXN, end), "end of the transaction"))

    def _coordinator(self, find: FindCoordinatorRequest) -> int:
        (found,) = self._client.any(FIND_COORDINATOR, find).coordinators
        check(found.error_code, "transaction coordinator", found.error_message)
        return int(found.node_id)

    def _write(self, producer_id: int, producer_epoch: int) -> None:
        batch = build_batch(
            [Record(0, 0, b"key", b"value", [])],
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=0,
            is_transactional=True,
        )
        partition = PartitionProduceData(index=0, records=batch)
        topic = TopicProduceData(name=self.name, topic_id=self._topic_id, partition_data=[partition])
        request = ProduceRequest(transactional_id=self.name, acks=-1, timeout_ms=1000, topic_data=[topic])
        (answered,) = self._client.send_to(self._leader, PRODUCE, request).responses
        check(answered.partition_responses[0].error_code, "record")

    def _form_classic_group(self) -> None:
        """Lets a member join a classic group and leave, and commits an offset of a group without members."""
        group = f"{self.name}-classic"
        node = self._client.coordinator(group)
        protocol = JoinGroupRequestProtocol(name="range", metadata=b"\0\1\0\0\0\1\0\5topic\xff\xff\xff\xff")
        join = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            member_id="",
            protocol_type="consumer",
            protocols=[protocol],
        )
        join.member_id = self._client.send_to(node, JOIN_GROUP, join).member_id  # KIP-394: the first response only gives the id
        member = _checked(self._client.send_to(node, JOIN_GROUP, join), "member of the classic group").member_id
        leave = LeaveGroupRequest(group_id=group, member_id=member, members=[MemberIdentity(member_id=member)])
        _checked(self._client.send_to(node, LEAVE_GROUP, leave), "leaving the classic group")
        self._commit(f"{self.name}-simple")

    def _commit(self, group: str) -> None:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
        topic = OffsetCommitRequestTopic(name=self.name, topic_id=self._topic_id, partitions=[partition])
        request = OffsetCommitRequest(group_id=group, topics=[topic])
        response = self._client.send_to(self._client.coordinator(group), OFFSET_COMMIT, request)
        check(response.topics[0].partitions[0].error_code, f"commit of group {group}")

    def _form_heartbeat_groups(self) -> None:
        """Lets a member join and leave a group of each protocol of heartbeats."""
        subtopology = Subtopology(
            subtopology_id="0",
            source_topics=[self.name],
            source_topic_regex=[],
            state_changelog_topics=[],
            repartition_sink_topics=[],
            repartition_source_topics=[],
            copartition_groups=[],
        )
        consumer: dict[str, Any] = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": [self.name], "topic_partitions": []}
        streams: dict[str, Any] = {
            "endpoint_information_epoch": 0,
            "rebalance_timeout_ms": 10_000,
            "topology": Topology(epoch=0, subtopologies=[subtopology]),
            "active_tasks": [],
            "standby_tasks": [],
            "warmup_tasks": [],
            "process_id": self.name,
        }
        for kind, api, message, joining, leaving in (
            ("consumer", CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest, consumer, {}),
            ("share", SHARE_GROUP_HEARTBEAT, ShareGroupHeartbeatRequest, {"subscribed_topic_names": [self.name]}, {}),
            ("streams", STREAMS_GROUP_HEARTBEAT, StreamsGroupHeartbeatRequest, streams, {"endpoint_information_epoch": 0}),
        ):
            group = f"{self.name}-{kind}"
            node = self._client.coordinator(group)
            for epoch, fields in ((0, joining), (LEFT, leaving)):
                request = message(group_id=group, member_id=MEMBER_ID, member_epoch=epoch, **fields)
                _checked(self._client.send_to(node, api, request), f"heartbeat of group {group}")
                if kind == "share" and epoch == 0:
                    self._client.retry(lambda: self._read_shared(group))  # noqa: B023  the loop waits for it

    def _read_shared(self, group: str) -> None:
        """Acquires the record of the topic in a share session, accepts it and closes the session."""
        for epoch, acknowledged in ((0, []), (LEFT, [AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[ACCEPT])])):
            partition = FetchPartition(partition_index=0, acknowledgement_batches=acknowledged)
            request = ShareFetchRequest(
                group_id=group,
                member_id=MEMBER_ID,
                share_session_epoch=epoch,
                max_wait_ms=1000 if epoch == 0 else 0,
                min_bytes=1,
                max_records=10,
                batch_size=10,
                topics=[FetchTopic(topic_id=self._topic_id, partitions=[partition])],
                forgotten_topics_data=[],
            )
            response = _checked(self._client.send_to(self._leader, SHARE_FETCH, request), "share fetch")
            (answered,) = response.responses[0].partitions
            check(answered.error_code, "share fetch")
            check(answered.acknowledge_error_code, "acknowledgement")


def alter_config(client: ClusterClient, resource_type: int, name: str, setting: str, value: str | None) -> None:
    """Sets one setting of a resource, or removes it for None. Raises KafkaError if the cluster refuses that."""
    config = AlterableConfig(name=setting, config_operation=DELETE if value is None else SET, value=value)
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=[config])
    response = client.any(INCREMENTAL_ALTER_CONFIGS, IncrementalAlterConfigsRequest(resources=[resource], validate_only=False))
    check(response.responses[0].error_code, setting, response.responses[0].error_message)


def _checked(response: Any, subject: str) -> Any:
    """Returns the response. Raises KafkaError if it contains an error."""
    check(response.error_code, subject, getattr(response, "error_message", None))
    return response
