"""How a member of a consumer group gets to the target assignment: what it must give up first, then what is free (KIP-848).

Kafka's CurrentAssignmentBuilder. A partition is never assigned before the member that had it has reported it gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .assignors import Slot
from .member import ConsumerMember, MemberState


class Reconciliation:
    """One step of one member. `subscribed` are the ids of its topics; `owned` is what it reports, None if it says nothing."""

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
        """Changes the member's epoch, state and partitions as far as it may go now."""
        member = self.member
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            if not self._still_owns(member.revoking):
                # A revocation that a changed subscription asked for may be done before there is a new target.
                self._go_on(min(member.epoch + 1, self.target_epoch))
            elif subscription_changed:
                self._drop_unsubscribed()
        elif member.state is MemberState.UNRELEASED_PARTITIONS or member.epoch != self.target_epoch:
            self._go_on(member.epoch)
        elif subscription_changed:
            self._drop_unsubscribed()

    def _still_owns(self, revoking: Collection[Slot]) -> bool:
        return self.owned is None or not self.owned.isdisjoint(revoking)

    def _go_on(self, epoch: int) -> None:
        member = self.member
        kept = {slot: since for slot, since in member.assigned.items() if slot in self.target}
        revoking = {slot: since for slot, since in member.assigned.items() if slot not in self.target}
        if revoking and self._still_owns(revoking):
            member.state = MemberState.UNREVOKED_PARTITIONS
            member.enter(epoch)
            member.assigned, member.revoking = kept, revoking
            return
        wanted = self.target - kept.keys()
        # What this member itself was giving up is free for it: only one member owns a partition at a time.
        free = {slot for slot in wanted if slot in member.revoking or self.is_free(slot)}
        member.state = MemberState.STABLE if len(free) == len(wanted) else MemberState.UNRELEASED_PARTITIONS
        member.enter(self.target_epoch)
        member.assigned = kept | dict.fromkeys(free, self.target_epoch)
        member.revoking = {}

    def _drop_unsubscribed(self) -> None:
        """Topics that the member has just unsubscribed from are revoked at once; the target follows later."""
        member = self.member
        gone = {slot: since for slot, since in member.assigned.items() if slot[0] not in self.subscribed}
        if not gone:
            return
        member.assigned = {slot: since for slot, since in member.assigned.items() if slot not in gone}
        revoking = member.revoking | gone
        if self._still_owns(revoking):
            member.state, member.revoking = MemberState.UNREVOKED_PARTITIONS, revoking
