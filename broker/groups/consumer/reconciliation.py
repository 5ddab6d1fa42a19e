"""Moves a member of a consumer group to its target assignment, one step with each heartbeat (KIP-848).

The states are those of `MemberState`; the rules are those of Kafka's CurrentAssignmentBuilder. A member first revokes the partitions that
are not in its target and stays in its epoch until it reports the revocation. Then it advances to the target's epoch and gets the partitions
of its target that no other member owns. So a partition is never assigned to a member before its last owner has reported its revocation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ...scheduling.revertible import RevertibleDict
from .assignors import Slot
from .member import ConsumerMember, CurrentAssignment, MemberState


class PartitionOwners(RevertibleDict[Slot, str]):
    """Partition -> id of the member that it is assigned to, or that has to revoke it and has not reported the revocation."""

    def is_free(self, slot: Slot) -> bool:
        return slot not in self

    def assign_to(self, member: ConsumerMember) -> None:
        """Makes a member the owner of all its partitions."""
        for slots in (member.assigned, member.revoking):
            for slot in slots:
                if self.get(slot) != member.member_id:
                    self[slot] = member.member_id

    def update_member(self, before: CurrentAssignment, member: ConsumerMember) -> None:
        """Releases the partitions that a member owned before and no longer owns, and makes it the owner of the others."""
        for slots in (before.assigned, before.revoking):
            self.release({slot: since for slot, since in slots.items() if member.epoch_of(slot) is None})
        self.assign_to(member)

    def release(self, slots: Mapping[Slot, int]) -> None:
        for slot in slots:
            self.pop(slot, None)


class Reconciliation:
    """One step of one member.

    `subscribed` are the ids of the member's topics. `owned` are the partitions that the member reports to own, None if its heartbeat
    does not report them. `is_free` returns whether no member owns a partition.
    """

    def __init__(
        self,
        member: ConsumerMember,
        target_epoch: int,
        target: frozenset[Slot],
        subscribed: Collection[bytes],
        owned: frozenset[Slot] | None,
        is_free: Callable[[Slot], bool],
    ) -> None:
        self.member = member
        self.target_epoch = target_epoch
        self.target = frozenset(slot for slot in target if slot[0] in subscribed)
        self.subscribed = subscribed
        self.owned = owned
        self.is_free = is_free

    def step(self, subscription_changed: bool) -> None:
        """Changes the member's epoch, state and partitions as far as possible now."""
        member = self.member
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            if not self._still_owns(member.revoking):
                # After a changed subscription, the revocation can be complete before there is a new target.
                self._continue(min(member.epoch + 1, self.target_epoch))
            elif subscription_changed:
                self._revoke_unsubscribed()
        elif member.state is MemberState.UNRELEASED_PARTITIONS or member.epoch != self.target_epoch:
            self._continue(member.epoch)
        elif subscription_changed:
            self._revoke_unsubscribed()

    def _still_owns(self, revoking: Collection[Slot]) -> bool:
        return self.owned is None or not self.owned.isdisjoint(revoking)

    def _continue(self, epoch: int) -> None:
        """Revokes partitions that are not in the target, in `epoch`; if there are none, assigns free ones in the target's epoch."""
        member = self.member
        kept = {slot: since for slot, since in member.assigned.items() if slot in self.target}
        revoking = {slot: since for slot, since in member.assigned.items() if slot not in self.target}
        if revoking and self._still_owns(revoking):
            member.state = MemberState.UNREVOKED_PARTITIONS
            member.advance_to(epoch)
            member.assigned, member.revoking = kept, revoking
            return
        missing = self.target - kept.keys()
        # A partition that this member has just revoked is free for it, because only one member owns a partition at a time.
        free = {slot for slot in missing if slot in member.revoking or self.is_free(slot)}
        member.state = MemberState.STABLE if len(free) == len(missing) else MemberState.UNRELEASED_PARTITIONS
        member.advance_to(self.target_epoch)
        member.assigned = kept | dict.fromkeys(free, self.target_epoch)
        member.revoking = {}

    def _revoke_unsubscribed(self) -> None:
        """Revokes partitions of topics that the member no longer subscribes to, without waiting for the next target."""
        member = self.member
        unsubscribed = {slot: since for slot, since in member.assigned.items() if slot[0] not in self.subscribed}
        if not unsubscribed:
            return
        member.assigned = {slot: since for slot, since in member.assigned.items() if slot not in unsubscribed}
        revoking = member.revoking | unsubscribed
        if self._still_owns(revoking):
            member.state, member.revoking = MemberState.UNREVOKED_PARTITIONS, revoking
