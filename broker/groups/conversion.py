"""A group changes its protocol while it has members: classic to consumer when the first such member comes, and back when the last goes.

Kafka's `ConsumerGroup.fromClassicGroup` and `ClassicGroup.fromConsumerGroup`; `group.consumer.migration.policy` says what is allowed.
"""

from __future__ import annotations

from collections.abc import Collection

from ...protocol import consumer_protocol
from ...protocol.consumer_protocol import ConsumerProtocolAssignment
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.schema import ProtocolError
from .classic.group import ClassicGroup, log
from .classic.member import CONSUMER_PROTOCOL_TYPE, Join, Member
from .cluster_view import ClusterView
from .consumer.group import ConsumerGroup
from .consumer.member import Beat, ClassicProtocols, ConsumerMember
from .emulation import read_subscription, slots_of, write_assignment
from .settings import GroupSettings

UPGRADES = ("upgrade", "bidirectional")
DOWNGRADES = ("downgrade", "bidirectional")


def check_upgrade(group: ClassicGroup, settings: GroupSettings) -> None:
    """Raises GROUP_ID_NOT_FOUND, as Kafka does, if a classic group with members may not become a consumer group."""
    if settings.group_consumer_migration_policy.lower() not in UPGRADES:
        reason = "online upgrade is disabled."
    elif group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        reason = "the group does not use the consumer embedded protocol."
    elif len(group.members) > settings.group_consumer_max_size:
        reason = "the group size exceeds the consumer group maximum size."
    else:
        return
    raise _refusal(group, reason)


def _refusal(group: ClassicGroup, reason: str) -> KafkaError:
    return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Cannot upgrade classic group {group.group_id} to consumer group because {reason}")


def upgrade(classic: ClassicGroup, group: ConsumerGroup, cluster: ClusterView) -> None:
    """Fills a new consumer group with a classic one's members. The classic one stays as it is until all of it is written.

    Raises GROUP_ID_NOT_FOUND.
    """
    members = [_upgraded(classic, member, cluster) for member in classic.members.values()]
    group.epoch = group.assignment_epoch = classic.generation_id
    group.restore(members)
    log.info("Group %s becomes a consumer group", classic.group_id)


def _upgraded(classic: ClassicGroup, member: Member, cluster: ClusterView) -> ConsumerMember:
    try:
        subscription = read_subscription(member.protocols[0].metadata)
        assigned = consumer_protocol.read(ConsumerProtocolAssignment, member.assignment) if member.assignment else None
    except (KafkaError, ProtocolError):
        raise _refusal(classic, "the embedded consumer protocol is malformed.") from None
    if assigned is not None and assigned.user_data:
        raise _refusal(
            classic,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor before"
            " re-attempting the upgrade.",
        )
    upgraded = ConsumerMember(member.member_id)
    beat = Beat(
        member_id=member.member_id,
        epoch=0,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topics=frozenset(subscription.topics),
        client_id=member.client_id,
        client_host=member.client_host,
    )
    upgraded.update(beat, ClassicProtocols(member.session_timeout_ms, member.protocols))
    slots = slots_of(assigned.assigned_partitions if assigned else (), cluster.topics)
    upgraded.assigned = dict.fromkeys(slots, classic.generation_id)
    upgraded.epoch = upgraded.previous_epoch = classic.generation_id
    return upgraded


def may_downgrade(group: ConsumerGroup, going: Collection[ConsumerMember], settings: GroupSettings) -> bool:
    """Whether all that would be left without `going` are classic members, and may be a classic group."""
    staying = [member for member in group.members.values() if member not in going]
    return (
        bool(staying)
        and all(member.classic is not None for member in staying)
        and settings.group_consumer_migration_policy.lower() in DOWNGRADES
        and len(staying) <= settings.group_max_size
    )


def downgrade(group: ConsumerGroup, going: Collection[ConsumerMember], classic: ClassicGroup, cluster: ClusterView) -> None:
    """Fills a new classic group with a consumer group's members, in the generation of its epoch, and has them join again."""
    members = [
        _downgraded(group, member, member.classic, cluster)
        for member in group.members.values()
        if member not in going and member.classic is not None
    ]
    group.dissolve()
    classic.restore(group.epoch, members)
    log.info("Group %s is a classic group from now on", group.group_id)


def _downgraded(group: ConsumerGroup, member: ConsumerMember, said: ClassicProtocols, cluster: ClusterView) -> Member:
    join = Join(
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocols=said.protocols,
        session_timeout_ms=said.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
    )
    downgraded = Member(member.member_id, join, None)
    downgraded.is_new = False
    target = group.targets.get(member.member_id, frozenset())
    version = consumer_protocol.version_of(said.protocols[0].metadata)
    downgraded.assignment = write_assignment(target, cluster.topics_by_id, version)
    return downgraded
