"""The owner of each partition in a consumer group."""

from __future__ import annotations

from collections.abc import Mapping

from ...scheduling.revertible import RevertibleDict
from .assignors import Slot
from .member import ConsumerMember, CurrentAssignment


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
            self.release({slot: since for slot, since in slots.items() if member.owned_since(slot) is None})
        self.assign_to(member)

    def release(self, slots: Mapping[Slot, int]) -> None:
        for slot in slots:
            self.pop(slot, None)
