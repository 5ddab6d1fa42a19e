"""Members of a consumer group that use the classic protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup to a consumer group.

The broker assigns partitions to these members in the same way as to all others (KIP-848, "online migration"). The classic protocol
expresses that as follows: the generation is the member's epoch, there is no leader, and Heartbeat and SyncGroup return
REBALANCE_IN_PROGRESS when the member has to revoke partitions or can get more. The member then joins again and reports in its subscription
what it owns. JoinGroup and SyncGroup never wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....protocol.errors import ErrorCode, KafkaError
from ....protocol.schema import ProtocolError
from ....protocol.stored import consumer_protocol
from ....protocol.stored.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartitions
from ...topics.partition import Topic
from ..classic.members import ClassicMember
from ..classic.messages import CONSUMER_PROTOCOL_TYPE, Join, JoinResult, Leave, Protocol, Sync, SyncResult
from .assignors import Slot, by_topic
from .group import ConsumerGroup
from .heartbeat import ConsumerHeartbeat
from .member import ClassicProtocols, ConsumerMember, MemberState


def join(group: ConsumerGroup, join: Join, topics: Mapping[str, Topic]) -> JoinResult:
    """Handles JoinGroup of a new or an existing classic member. Raises KafkaError."""
    member_id = join.member_id or group.new_member_id()
    group.check_room(member_id)
    if join.protocol_type != CONSUMER_PROTOCOL_TYPE or not _is_supported(group, join.protocols):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not join.member_id and join.group_instance_id is None and join.requires_known_member_id:
        return JoinResult(ErrorCode.MEMBER_ID_REQUIRED, member_id)
    member = _joining_member(group, join, member_id)
    subscription = read_subscription(join.protocols[0].metadata)
    heartbeat = first_heartbeat(member_id, join, subscription)
    owned = slots_of(subscription.owned_partitions, topics)
    group.subscribe(member, heartbeat, ClassicProtocols(join.session_timeout_ms, join.protocols), owned)
    group.member_timers.cancel("join", member)
    group.renew_session(member)
    group.member_timers.set("sync", member, join.rebalance_timeout_ms)
    return JoinResult(ErrorCode.NONE, member_id, member.epoch, CONSUMER_PROTOCOL_TYPE, join.protocols[0].name)


def first_heartbeat(member_id: str, sent: Join | ClassicMember, subscription: ConsumerProtocolSubscription) -> ConsumerHeartbeat:
    """Returns the heartbeat with which a member of the consumer protocol would join that has `sent` this JoinGroup."""
    return ConsumerHeartbeat(
        member_id=member_id,
        epoch=0,
        instance_id=sent.group_instance_id,
        rack_id=subscription.rack_id,
        rebalance_timeout_ms=sent.rebalance_timeout_ms,
        topics=frozenset(subscription.topics),
        client_id=sent.client_id,
        client_host=sent.client_host,
    )


def _joining_member(group: ConsumerGroup, join: Join, member_id: str) -> ConsumerMember:
    instance_id = join.group_instance_id
    if instance_id is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    if join.member_id:
        return group.find(member_id, instance_id)
    predecessor_id = group.static_ids.get(instance_id)
    return ConsumerMember(member_id) if predecessor_id is None else group.members[predecessor_id].successor(member_id)


def _is_supported(group: ConsumerGroup, protocols: Iterable[Protocol]) -> bool:
    """Returns whether all classic members of the group support one of the protocols."""
    common = {protocol.name for protocol in protocols}
    for member in group.members.values():
        if member.classic:
            common.intersection_update(protocol.name for protocol in member.classic.protocols)
    return bool(common)


def sync(group: ConsumerGroup, sync: Sync, topics_by_id: Mapping[bytes, Topic]) -> SyncResult:
    """Returns the partitions that are currently assigned to a member. Raises KafkaError."""
    member, classic = _classic_member(group, sync.member_id, sync.group_instance_id)
    _check_generation(member, sync.generation_id)
    protocol = classic.protocols[0]
    if sync.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE) or sync.protocol_name not in (None, protocol.name):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if group.assignment_epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
        _expect_join(group, member)
        raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
    group.member_timers.cancel("sync", member)
    group.renew_session(member)
    assignment = write_assignment(member.assigned, topics_by_id, consumer_protocol.version_of(protocol.metadata))
    return SyncResult(ErrorCode.NONE, sync.protocol_type, sync.protocol_name, assignment)


def heartbeat(group: ConsumerGroup, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
    """Renews a session; returns REBALANCE_IN_PROGRESS if the member has to join again. Raises KafkaError."""
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


def leaving(group: ConsumerGroup, leaves: Iterable[Leave]) -> tuple[list[ErrorCode], list[ConsumerMember]]:
    """Returns an error for each `Leave` of a LeaveGroup request, and the members to remove.

    Members of both protocols can be removed, because administrators remove members by LeaveGroup. A static member may be named by its
    instance id alone.
    """
    errors: list[ErrorCode] = []
    members: dict[str, ConsumerMember] = {}
    for leave in leaves:
        instance_id = leave.group_instance_id
        member_id = leave.member_id or group.static_ids.get(instance_id or "", "")
        try:
            member = group.find(member_id, instance_id)
        except KafkaError as error:
            errors.append(error.code)
        else:
            errors.append(ErrorCode.NONE)
            members[member_id] = member
    return errors, list(members.values())


def _classic_member(group: ConsumerGroup, member_id: str, group_instance_id: str | None) -> tuple[ConsumerMember, ClassicProtocols]:
    member = group.find(member_id, group_instance_id)
    if member.classic is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol.")
    return member, member.classic


def _check_generation(member: ConsumerMember, generation_id: int) -> None:
    if generation_id != member.epoch:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)


def _expect_join(group: ConsumerGroup, member: ConsumerMember) -> None:
    if not group.member_timers.is_set("join", member):
        group.member_timers.set("join", member, member.rebalance_timeout_ms)


def _waits_for_others(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Returns whether another member still owns a partition of the member's target assignment."""
    missing = group.targets.get(member.member_id, frozenset()) - member.assigned.keys()
    return any(not group.owners.is_free(slot) for slot in missing)


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Returns the subscription in a JoinGroup's metadata. Raises KafkaError with UNKNOWN_SERVER_ERROR for malformed bytes, as in Kafka."""
    try:
        return consumer_protocol.read(ConsumerProtocolSubscription, metadata)
    except ProtocolError:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Malformed embedded consumer protocol.") from None


def slots_of(partitions: Iterable[TopicPartitions], topics: Mapping[str, Topic]) -> frozenset[Slot]:
    """Returns (topic id, partition index) pairs. Topics that do not exist are left out."""
    return frozenset((topics[each.topic].id, index) for each in partitions if each.topic in topics for index in each.partitions)


def write_assignment(slots: Iterable[Slot], topics_by_id: Mapping[bytes, Topic], version: int) -> bytes:
    """Returns the bytes of a `ConsumerProtocolAssignment`. Topics that do not exist are left out."""
    assigned = [
        TopicPartitions(topic=topics_by_id[topic_id].name, partitions=indexes)
        for topic_id, indexes in by_topic(slots).items()
        if topic_id in topics_by_id
    ]
    return consumer_protocol.write(ConsumerProtocolAssignment(assigned_partitions=assigned), version)
