"""The states of groups, with the names that clients receive. Each docstring says what a group does in the state and which states follow."""

from __future__ import annotations

from enum import Enum


class GroupState(Enum):
    """The states of a classic group, as DescribeGroups and ListGroups return them (Kafka's ClassicGroupState)."""

    EMPTY = "Empty"
    """The group has no members. Committed offsets may remain, and commits without a generation are accepted.

    The first member joins -> PREPARING_REBALANCE; the group is deleted or all its offsets have expired -> DEAD.
    """

    PREPARING_REBALANCE = "PreparingRebalance"
    """JoinGroup requests wait. Heartbeat and SyncGroup return REBALANCE_IN_PROGRESS.

    All known members have joined or the rebalance timeout is over -> COMPLETING_REBALANCE; no member is left -> EMPTY.
    """

    COMPLETING_REBALANCE = "CompletingRebalance"
    """Members have received the new generation. Their SyncGroup requests wait for the leader's.

    The leader's SyncGroup -> STABLE; a new member, a changed protocol, a leave, an expired session or a missing SyncGroup
    -> PREPARING_REBALANCE.
    """

    STABLE = "Stable"
    """SyncGroup returns the stored assignment. A follower that joins again without changes gets the current generation at once.

    The leader joins again, or a new member, a changed protocol, a leave, an expired session or a missing SyncGroup
    -> PREPARING_REBALANCE.
    """

    DEAD = "Dead"
    """The group is deleted. No state follows; a later request creates a new group."""


class ConsumerGroupState(Enum):
    """The states of a consumer group, as ConsumerGroupDescribe and ListGroups return them (Kafka's ConsumerGroupState).

    The state is computed from the epochs of the group and its members (`ConsumerGroup.state`).
    """

    EMPTY = "Empty"
    """The group has no members.

    The first member joins -> ASSIGNING, or a later state; a member of the classic protocol joins -> a classic group replaces this one.
    """

    ASSIGNING = "Assigning"
    """The group epoch is greater than the epoch of the target assignment.

    The first heartbeat after group.consumer.assignment.interval.ms computes a new target -> RECONCILING.
    """

    RECONCILING = "Reconciling"
    """Some members do not own their target assignment yet: they revoke partitions first, then get those that are free.

    All members own their target assignment -> STABLE.
    """

    STABLE = "Stable"
    """All members own their target assignment.

    A member joins or leaves, or subscriptions, topics or partitions change -> ASSIGNING; the last member leaves -> EMPTY.
    """

    DEAD = "Dead"
    """The group is deleted or has been converted."""


class ShareGroupState(Enum):
    """The states of a share group, as ShareGroupDescribe and ListGroups return them (Kafka's ShareGroupState).

    There are no states of a rebalance, because members share partitions and so never wait for each other.
    """

    EMPTY = "Empty"
    """The group has no members. Its share partitions keep their state.

    The first member joins -> STABLE; the group is deleted -> DEAD.
    """

    STABLE = "Stable"
    """The group has members.

    The last member leaves or its session ends -> EMPTY.
    """

    DEAD = "Dead"
    """The group is deleted."""


class StreamsGroupState(Enum):
    """The states of a streams group, as StreamsGroupDescribe and ListGroups return them (Kafka's StreamsGroupState).

    The state is computed from the epochs of the group and its members (`StreamsGroup.state`).
    """

    EMPTY = "Empty"
    """The group has no members.

    The first member joins -> NOT_READY, or a later state; a member of the classic protocol joins -> a classic group replaces this one.
    """

    NOT_READY = "NotReady"
    """Topics of the topology are missing or have unsuitable numbers of partitions.

    The topics have been created or corrected, and a member sends a heartbeat -> ASSIGNING, or a later state.
    """

    ASSIGNING = "Assigning"
    """The group epoch is greater than the epoch of the target assignment.

    The initial delay or the assignment interval is over, and a member sends a heartbeat -> RECONCILING.
    """

    RECONCILING = "Reconciling"
    """Some members do not own their target assignment yet: they revoke tasks first, then get those that are free.

    All members own their target assignment -> STABLE.
    """

    STABLE = "Stable"
    """All members own their target assignment.

    A member joins or leaves, or topics or settings change -> ASSIGNING; topics are deleted -> NOT_READY; the last member leaves -> EMPTY.
    """

    DEAD = "Dead"
    """The group is deleted."""


def filter_name(state: GroupState | ConsumerGroupState | ShareGroupState | StreamsGroupState) -> str:
    """Returns the name of a state in the filter of ListGroups, in lower case. For one state Kafka compares another name than it returns."""
    return "not_ready" if state is StreamsGroupState.NOT_READY else state.value.lower()
