"""The records of the metadata log, `__cluster_metadata`, and of its snapshots (Kafka's MetadataRecordType).

A value consists of varints for the version of the frame, the type of the record and the version of the record, and of a message. Fields,
types and versions are those of Kafka 4.3. Records of types that it does not know are skipped by readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..schema import Float64, Int8, Int16, Int32, Int64, Message, ProtocolError, UInt16, Uuid, field
from ..varints import put_uvarint

FRAME_VERSION = 1
MAX_VARINT_BYTES = 5


class RegisterBrokerRecord(Message):
    """A broker that has registered with the controller."""

    flexible_from = 0
    broker_id: Int32
    is_migrating_zk_broker: bool = field(since=2, default=False)
    incarnation_id: Uuid
    broker_epoch: Int64
    end_points: list[EndPoint]
    features: list[SupportedFeature]
    rack: str | None
    fenced: bool = True
    in_controlled_shutdown: bool = field(since=1, default=False)
    log_dirs: list[Uuid] = field(since=3, tag=0, default_factory=list)
    cordoned_log_dirs: list[Uuid] | None = field(since=4, tag=1, default=None)


class EndPoint(Message):
    """A listener of a node."""

    name: str
    host: str
    port: UInt16
    security_protocol: Int16


class SupportedFeature(Message):
    """The versions of a feature that a node supports."""

    name: str
    min_supported_version: Int16
    max_supported_version: Int16


class UnregisterBrokerRecord(Message):
    """A broker that was removed from the cluster."""

    flexible_from = 0
    broker_id: Int32
    broker_epoch: Int64


class TopicRecord(Message):
    """A topic that was created."""

    flexible_from = 0
    name: str
    topic_id: Uuid


class PartitionRecord(Message):
    """A partition that was created. `directories` are the ids of the log directories of its replicas, in their order (KIP-858)."""

    flexible_from = 0
    partition_id: Int32 = -1
    topic_id: Uuid
    replicas: list[Int32]
    isr: list[Int32]
    removing_replicas: list[Int32]
    adding_replicas: list[Int32]
    leader: Int32 = -1
    leader_recovery_state: Int8 = field(tag=0, default=0)
    leader_epoch: Int32 = -1
    partition_epoch: Int32 = -1
    directories: list[Uuid] = field(since=1, default_factory=list)
    eligible_leader_replicas: list[Int32] | None = field(since=2, tag=1, default=None)
    last_known_elr: list[Int32] | None = field(since=2, tag=2, default=None)


class ConfigRecord(Message):
    """A dynamic setting of a resource. Its types are those of IncrementalAlterConfigs; a value of None removes the setting."""

    flexible_from = 0
    resource_type: Int8
    resource_name: str
    name: str
    value: str | None


class PartitionChangeRecord(Message):
    """A change of a partition. A field with its default has not changed; the default of the leader is -2."""

    flexible_from = 0
    partition_id: Int32 = -1
    topic_id: Uuid
    isr: list[Int32] | None = field(tag=0, default=None)
    leader: Int32 = field(tag=1, default=-2)
    replicas: list[Int32] | None = field(tag=2, default=None)
    removing_replicas: list[Int32] | None = field(tag=3, default=None)
    adding_replicas: list[Int32] | None = field(tag=4, default=None)
    leader_recovery_state: Int8 = field(tag=5, default=-1)
    eligible_leader_replicas: list[Int32] | None = field(since=2, tag=6, default=None)
    last_known_elr: list[Int32] | None = field(since=2, tag=7, default=None)
    directories: list[Uuid] | None = field(since=1, tag=8, default=None)


class FenceBrokerRecord(Message):
    """A broker that was fenced, because its session expired."""

    flexible_from = 0
    id: Int32
    epoch: Int64


class UnfenceBrokerRecord(Message):
    """A broker that is alive."""

    flexible_from = 0
    id: Int32
    epoch: Int64


class RemoveTopicRecord(Message):
    """A topic that was deleted."""

    flexible_from = 0
    topic_id: Uuid


class DelegationTokenRecord(Message):
    """A delegation token, without its HMAC, which follows from the secret key of the brokers."""

    flexible_from = 0
    owner: str
    requester: str
    renewers: list[str]
    issue_timestamp: Int64
    max_timestamp: Int64
    expiration_timestamp: Int64
    token_id: str


class UserScramCredentialRecord(Message):
    """The SCRAM credential of a user for a mechanism, whose numbers are those of AlterUserScramCredentials."""

    flexible_from = 0
    name: str
    mechanism: Int8
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: Int32


class FeatureLevelRecord(Message):
    """The finalized level of a feature."""

    flexible_from = 0
    name: str
    feature_level: Int16


class ClientQuotaRecord(Message):
    """A client quota that was set or removed."""

    flexible_from = 0
    entity: list[QuotaEntity]
    key: str
    value: Float64
    remove: bool


class QuotaEntity(Message):
    """A part of the entity of a quota. The name None stands for the default entity."""

    entity_type: str
    entity_name: str | None


class ProducerIdsRecord(Message):
    """A block of producer ids that a broker was given. The next block begins at `next_producer_id`."""

    flexible_from = 0
    broker_id: Int32
    broker_epoch: Int64 = -1
    next_producer_id: Int64


class BrokerRegistrationChangeRecord(Message):
    """A change of a registered broker: 1 stands for fenced or in controlled shutdown, -1 for the opposite, 0 for no change."""

    flexible_from = 0
    broker_id: Int32
    broker_epoch: Int64
    fenced: Int8 = field(tag=0, default=0)
    in_controlled_shutdown: Int8 = field(since=1, tag=1, default=0)
    log_dirs: list[Uuid] = field(since=2, tag=2, default_factory=list)
    cordoned_log_dirs: list[Uuid] | None = field(since=3, tag=3, default=None)


class AccessControlEntryRecord(Message):
    """An ACL. The numbers are those of CreateAcls."""

    flexible_from = 0
    id: Uuid
    resource_type: Int8
    resource_name: str
    pattern_type: Int8
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


class RemoveAccessControlEntryRecord(Message):
    """An ACL that was removed."""

    flexible_from = 0
    id: Uuid


class NoOpRecord(Message):
    """A record without a meaning, which the controller writes so that the log advances."""

    flexible_from = 0


class ZkMigrationStateRecord(Message):
    """The state of the migration from ZooKeeper."""

    flexible_from = 0
    zk_migration_state: Int8


class RemoveUserScramCredentialRecord(Message):
    """The SCRAM credential of a user that was removed."""

    flexible_from = 0
    name: str
    mechanism: Int8


class BeginTransactionRecord(Message):
    """The begin of a transaction of the controller (KIP-868): the records up to its end take effect together."""

    flexible_from = 0
    name: str | None = field(tag=0, default=None)


class EndTransactionRecord(Message):
    """The end of a transaction of the controller."""

    flexible_from = 0


class AbortTransactionRecord(Message):
    """The end of a transaction of the controller without effect."""

    flexible_from = 0
    reason: str | None = field(tag=0, default=None)


class RemoveDelegationTokenRecord(Message):
    """A delegation token that was removed."""

    flexible_from = 0
    token_id: str


class RegisterControllerRecord(Message):
    """A controller that has registered with the active one."""

    flexible_from = 0
    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: bool
    end_points: list[EndPoint]
    features: list[SupportedFeature]


class ClearElrRecord(Message):
    """The removal of the eligible leader replicas of a topic, or of all topics without a name (KIP-966)."""

    flexible_from = 0
    topic_name: str


class RecordForm(NamedTuple):
    """The class of a type of records, and its newest version."""

    message: type[Message]
    newest: int


FORMS: Mapping[int, RecordForm] = {
    0: RecordForm(RegisterBrokerRecord, 4),
    1: RecordForm(UnregisterBrokerRecord, 0),
    2: RecordForm(TopicRecord, 0),
    3: RecordForm(PartitionRecord, 2),
    4: RecordForm(ConfigRecord, 0),
    5: RecordForm(PartitionChangeRecord, 2),
    7: RecordForm(FenceBrokerRecord, 0),
    8: RecordForm(UnfenceBrokerRecord, 0),
    9: RecordForm(RemoveTopicRecord, 0),
    10: RecordForm(DelegationTokenRecord, 0),
    11: RecordForm(UserScramCredentialRecord, 0),
    12: RecordForm(FeatureLevelRecord, 0),
    14: RecordForm(ClientQuotaRecord, 0),
    15: RecordForm(ProducerIdsRecord, 0),
    17: RecordForm(BrokerRegistrationChangeRecord, 3),
    18: RecordForm(AccessControlEntryRecord, 0),
    19: RecordForm(RemoveAccessControlEntryRecord, 0),
    20: RecordForm(NoOpRecord, 0),
    21: RecordForm(ZkMigrationStateRecord, 0),
    22: RecordForm(RemoveUserScramCredentialRecord, 0),
    23: RecordForm(BeginTransactionRecord, 0),
    24: RecordForm(EndTransactionRecord, 0),
    25: RecordForm(AbortTransactionRecord, 0),
    26: RecordForm(RemoveDelegationTokenRecord, 0),
    27: RecordForm(RegisterControllerRecord, 0),
    28: RecordForm(ClearElrRecord, 0),
}
"""The records by their type."""

_TYPES = {form.message: kind for kind, form in FORMS.items()}


def write_metadata_record(record: Message) -> bytes:
    """Returns the value of a record in its newest version. Raises ProtocolError."""
    kind = _TYPES[type(record)]
    head = bytearray()
    for number in (FRAME_VERSION, kind, FORMS[kind].newest):
        put_uvarint(head, number)
    return bytes(head) + record.encode(FORMS[kind].newest)


def read_metadata_record(value: bytes) -> Message | None:
    """Returns a record, None if its type or version is newer than Kafka 4.3. Raises ProtocolError for other bytes."""
    frame, position = _read_varint(value, 0)
    if frame != FRAME_VERSION:
        raise ProtocolError(f"a metadata record with the frame version {frame}, only {FRAME_VERSION} is known")
    kind, position = _read_varint(value, position)
    version, position = _read_varint(value, position)
    form = FORMS.get(kind)
    if form is None or version > form.newest:
        return None
    return form.message.decode(version, value[position:])


def _read_varint(value: bytes, position: int) -> tuple[int, int]:
    number = 0
    for shift, byte in enumerate(value[position : position + MAX_VARINT_BYTES]):
        number |= (byte & 127) << 7 * shift
        if byte < 128:
            return number, position + shift + 1
    raise ProtocolError("a metadata record ends within its head, or begins with too large a number")
