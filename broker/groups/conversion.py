"""Conversion of a group with members from one protocol to the other (KIP-848, "online migration").

A classic group becomes a consumer group when the first member of the consumer protocol joins (Kafka's `ConsumerGroup.fromClassicGroup`); a
consumer group becomes a classic group when its last such member leaves (`ClassicGroup.fromConsumerGroup`). The setting
group.consumer.migration.policy determines which of the two conversions are allowed. The functions here fill the new group; `table` and
`consumer.requests` write and store it.
"""

from __future__ import annotations

from collections.abc import Collection

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.schema import ProtocolError
from ...protocol.stored import consumer_protocol
from ...protocol.stored.consumer_protocol import ConsumerProtocolAssignment
from . import log
from .classic.group import ClassicGroup
from .classic.members import ClassicMember
from .classic.messages import CONSUMER_PROTOCOL_TYPE, Join
from .cluster_view import ClusterView
from .consumer.classic_members import first_heartbeat, read_subscription, slots_of, write_assignment
from .consumer.group import ConsumerGroup
from .consumer.member import ClassicProtocols, ConsumerMember
from .settings import GroupSettings

UPGRADES = ("upgrade", "bidirectional")
DOWNGRADES = ("downgrade", "bidirectional")


def check_upgrade(group: ClassicGroup, settings: GroupSettings) -> None:
    """Raises KafkaError with GROUP_ID_NOT_FOUND, as Kafka does, if a classic group with members may not become a consumer group."""
    if settings.group_consumer_migration_policy.lower() not in UPGRADES:
        reason = "online upgrade is disabled."
    elif group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        reason = "the group does not use the consumer embedded protocol."
    elif len(group.members) > settings.group_consumer_max_size:
        reason = "the group size exceeds the consumer group maximum size."
    else:
        return
    raise _upgrade_error(group, reason)


def _upgrade_error(group: ClassicGroup, reason: str) -> KafkaError:
    return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Cannot upgrade classic group {group.group_id} to consumer group because {reason}")


def upgrade(classic: ClassicGroup, group: ConsumerGroup, cluster: ClusterView) -> None:
    """Adds the members of a classic group to a new consumer group. The classic group is not changed, because writing may still fail.

    Raises KafkaError with GROUP_ID_NOT_FOUND.
    """
    members = [_upgrade_member(classic, member, cluster) for member in classic.members.values()]
    group.epoch = group.assignment_epoch = classic.generation_id
    group.restore(members)
    log.info("Group %s becomes a consumer group", classic.group_id)


def _upgrade_member(classic: ClassicGroup, member: ClassicMember, cluster: ClusterView) -> ConsumerMember:
    try:
        subscription = read_subscription(member.protocols[0].metadata)
        assigned = consumer_protocol.read(ConsumerProtocolAssignment, member.assignment) if member.assignment else None
    except (KafkaError, ProtocolError):
        raise _upgrade_error(classic, "the embedded consumer protocol is malformed.") from None
    if assigned is not None and assigned.user_data:
        raise _upgrade_error(
            classic,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor before"
            " re-attempting the upgrade.",
        )
    upgraded = ConsumerMember(member.member_id)
    heartbeat = first_heartbeat(member.member_id, member, subscription)
    upgraded.update(heartbeat, ClassicProtocols(member.session_timeout_ms, member.protocols))
    slots = slots_of(assigned.assigned_partitions if assigned else (), cluster.topics)
    upgraded.assigned = dict.fromkeys(slots, classic.generation_id)
    upgraded.epoch = upgraded.previous_epoch = classic.generation_id
    return upgraded


def may_downgrade(group: ConsumerGroup, removed: Collection[ConsumerMember], settings: GroupSettings) -> bool:
    """Returns whether a consumer group without the members `removed` consists of classic members, and may become a classic group."""
    remaining = 0
    for member in group.members.values():
        if member not in removed:
            if member.classic is None:
                return False  # usually the first member, so that a member which leaves a large group does not visit all others
            remaining += 1
    return 0 < remaining <= settings.group_max_size and settings.group_consumer_migration_policy.lower() in DOWNGRADES


def downgrade(group: ConsumerGroup, removed: Collection[ConsumerMember], classic: ClassicGroup, cluster: ClusterView) -> None:
    """Moves the members of a consumer group, without those `removed`, to a new classic group whose generation is the group epoch."""
    members = [
        _downgrade_member(group, member, member.classic, cluster)
        for member in group.members.values()
        if member not in removed and member.classic is not None
    ]
    group.dissolve()
    classic.restore(group.epoch, members)
    log.info("Group %s becomes a classic group", group.group_id)


def _downgrade_member(group: ConsumerGroup, member: ConsumerMember, protocols: ClassicProtocols, cluster: ClusterView) -> ClassicMember:
    join = Join(
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocols=protocols.protocols,
        session_timeout_ms=protocols.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
    )
    downgraded = ClassicMember(member.member_id, join, None)
    downgraded.is_new = False
    target = group.targets.get(member.member_id, frozenset())
    version = consumer_protocol.version_of(protocols.protocols[0].metadata)
    downgraded.assignment = write_assignment(target, cluster.topics_by_id, version)
    return downgraded
