"""The states of groups, spelled as clients see them: what each means, and what follows it."""

from __future__ import annotations

from enum import Enum


class GroupState(Enum):
    """The states, spelled as DescribeGroups and ListGroups show them."""

    EMPTY = "Empty"
    """No members; committed offsets may remain, and commits without a generation are taken.
    The first member to be added -> PREPARING_REBALANCE; deleted or all offsets expired -> DEAD."""

    PREPARING_REBALANCE = "PreparingRebalance"
    """JoinGroup is parked, heartbeats and SyncGroup answer REBALANCE_IN_PROGRESS.
    All known members joined, or the time is up -> COMPLETING_REBALANCE; nobody is left -> EMPTY."""

    COMPLETING_REBALANCE = "CompletingRebalance"
    """A new generation is told to its members; their SyncGroups are parked until the leader's comes.
    The leader's assignment -> STABLE; a join with news, a leave, an expiry, a missing SyncGroup -> PREPARING_REBALANCE."""

    STABLE = "Stable"
    """SyncGroup answers the stored assignment, unchanged followers may join without consequences.
    A join of the leader or with news, a leave, an expiry, a missing SyncGroup -> PREPARING_REBALANCE."""

    DEAD = "Dead"
    """Deleted: nothing follows, and whoever comes next meets a new group."""


class ConsumerGroupState(Enum):
    """The states, spelled as ConsumerGroupDescribe and ListGroups show them. They follow from epochs and members."""

    EMPTY = "Empty"
    """No members. The first to join -> ASSIGNING and further; a classic member -> the group is made anew as a classic one."""

    ASSIGNING = "Assigning"
    """The group's epoch is ahead of the target assignment: the next heartbeat for which it may be computed does so -> RECONCILING."""

    RECONCILING = "Reconciling"
    """There is a target, and members that have not reached it: they revoke, then take what is free -> STABLE."""

    STABLE = "Stable"
    """All members own what they shall own. A join, a leave, a new subscription, a new partition -> ASSIGNING; the last leaves -> EMPTY."""

    DEAD = "Dead"
    """Deleted."""
