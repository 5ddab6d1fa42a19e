"""Members of a consumer group that still speak the classic protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup to such a group.

They are assigned by the broker like all others. REBALANCE_IN_PROGRESS stands for "revoke" or "there is more to get", the generation for
the member's epoch, and nobody leads (KIP-848, "online migration").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...protocol import consumer_protocol
from ...protocol.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartitions
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.schema import ProtocolError
from ..topics.topic import Topic
from .classic.member import CONSUMER_PROTOCOL_TYPE, Join, JoinResult, Leave, Protocol, Sync, SyncResult
from .consumer.assignors import Slot, by_topic
from .consumer.group import ConsumerGroup
from .consumer.member import Beat, ClassicProtocols, ConsumerMember, MemberState


def join(group: ConsumerGroup, join: Join, topics: Mapping[str, Topic]) -> JoinResult:
    """JoinGroup, which never waits here. Raises KafkaError."""
    member_id = join.member_id or group.new_member_id()
    group.check_room(member_id)
    if join.protocol_type != CONSUMER_PROTOCOL_TYPE or not _is_supported(group, join.protocols):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not join.member_id and join.group_instance_id is None and join.requires_known_member_id:
        return JoinResult(ErrorCode.MEMBER_ID_REQUIRED, member_id)
    member = _joining(group, join, member_id)
    subscription = read_subscription(join.protocols[0].metadata)
    beat = Beat(
        member_id=member_id,
        epoch=0,
        instance_id=join.group_instance_id,
        rack_id=subscription.rack_id,
        rebalance_timeout_ms=join.rebalance_timeout_ms,
        topics=frozenset(subscription.topics),
        client_id=join.client_id,
        client_host=join.client_host,
    )
    owned = slots_of(subscription.owned_partitions, topics)
    group.subscribe(member, beat, ClassicProtocols(join.session_timeout_ms, join.protocols), owned)
    group.cancel_timer("join", member)
    group.renew_session(member)
    group.set_timer("sync", member, join.rebalance_timeout_ms, "has not synced in time")
    return JoinResult(ErrorCode.NONE, member_id, member.epoch, CONSUMER_PROTOCOL_TYPE, join.protocols[0].name)


def _joining(group: ConsumerGroup, join: Join, member_id: str) -> ConsumerMember:
    instance_id = join.group_instance_id
    if instance_id is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    if join.member_id:
        return group.find(member_id, instance_id)
    predecessor_id = group.static_ids.get(instance_id)
    return ConsumerMember(member_id) if predecessor_id is None else group.members[predecessor_id].successor(member_id)


def _is_supported(group: ConsumerGroup, protocols: Iterable[Protocol]) -> bool:
    """Whether one of the protocols is known to all classic members."""
    common = {protocol.name for protocol in protocols}
    for member in group.members.values():
        if member.classic:
            common.intersection_update(protocol.name for protocol in member.classic.protocols)
    return bool(common)


def sync(group: ConsumerGroup, sync: Sync, topics_by_id: Mapping[bytes, Topic]) -> SyncResult:
    """SyncGroup, which never waits here. Raises KafkaError."""
    member, classic = _classic_member(group, sync.member_id, sync.group_instance_id)
    _check_generation(member, sync.generation_id)
    protocol = classic.protocols[0]
    if sync.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE) or sync.protocol_name not in (None, protocol.name):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if group.assignment_epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
        _expect_join(group, member)
        raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
    group.cancel_timer("sync", member)
    group.renew_session(member)
    assignment = write_assignment(member.assigned, topics_by_id, consumer_protocol.version_of(protocol.metadata))
    return SyncResult(ErrorCode.NONE, sync.protocol_type, sync.protocol_name, assignment)


def heartbeat(group: ConsumerGroup, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
    """Heartbeat. Raises KafkaError."""
    member, _ = _classic_member(group, member_id, group_instance_id)
    _check_generation(member, generation_id)
    group.renew_session(member)
    must_join = (
        member.epoch < group.assignment_epoch
        or member.state is MemberState.UNREVOKED_PARTITIONS
        or (member.state is MemberState.UNRELEASED_PARTITIONS and not _waits_for_others(group, member))
    )
    if must_join:
        _expect_join(group, member)
    return ErrorCode.REBALANCE_IN_PROGRESS if must_join else ErrorCode.NONE


def leave(group: ConsumerGroup, leaves: Iterable[Leave]) -> tuple[list[ErrorCode], list[ConsumerMember]]:
    """LeaveGroup: an error for each, and the members that go, whatever they speak, as it is how an administrator removes them.

    A static member may be named by its instance alone.
    """
    errors: list[ErrorCode] = []
    going: dict[str, ConsumerMember] = {}
    for leave in leaves:
        instance_id = leave.group_instance_id
        member_id = leave.member_id or group.static_ids.get(instance_id or "", "")
        try:
            member = group.find(member_id, instance_id)
        except KafkaError as error:
            errors.append(error.code)
        else:
            errors.append(ErrorCode.NONE)
            going[member_id] = member
    return errors, list(going.values())


def _classic_member(group: ConsumerGroup, member_id: str, group_instance_id: str | None) -> tuple[ConsumerMember, ClassicProtocols]:
    member = group.find(member_id, group_instance_id)
    if member.classic is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol.")
    return member, member.classic


def _check_generation(member: ConsumerMember, generation_id: int) -> None:
    if generation_id != member.epoch:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)


def _expect_join(group: ConsumerGroup, member: ConsumerMember) -> None:
    if not group.has_timer("join", member):
        group.set_timer("join", member, member.rebalance_timeout_ms, "has not joined in time")


def _waits_for_others(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether something that the member shall own is still with somebody else."""
    wanted = group.targets.get(member.member_id, frozenset()) - member.assigned.keys()
    return any(not group.is_free(slot) for slot in wanted)


# Between the members' own messages and partitions by topic id.


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Raises UNKNOWN_SERVER_ERROR, as Kafka, for bytes that are none."""
    try:
        return consumer_protocol.read(ConsumerProtocolSubscription, metadata)
    except ProtocolError:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Malformed embedded consumer protocol.") from None


def slots_of(partitions: Iterable[TopicPartitions], topics: Mapping[str, Topic]) -> frozenset[Slot]:
    """Partitions of the topics that exist."""
    return frozenset((topics[each.topic].id, index) for each in partitions if each.topic in topics for index in each.partitions)


def write_assignment(slots: Iterable[Slot], topics_by_id: Mapping[bytes, Topic], version: int) -> bytes:
    """What SyncGroup answers a classic member."""
    assigned = [
        TopicPartitions(topic=topics_by_id[topic_id].name, partitions=indexes)
        for topic_id, indexes in by_topic(slots).items()
        if topic_id in topics_by_id
    ]
    return consumer_protocol.write(ConsumerProtocolAssignment(assigned_partitions=assigned), version)
