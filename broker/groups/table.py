"""All groups of the cluster by id: finding, creating, replacing and writing them.

Kafka writes the state of groups to `__consumer_offsets` before it answers a request, and undoes the request if that fails. Here every
request that may write runs in a savepoint (`classic_step`, `consumer_step`), which restores the group, the members concerned and the
timers when an exception is raised.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.stored.coordinator_records import CoordinatorRecord
from ..scheduling.savepoint import reverted_on_failure
from ..scheduling.timers import Check, Timers
from .classic.group import ClassicGroup, classic_tombstone
from .cluster_view import ClusterView
from .consumer.group import ConsumerGroup
from .consumer.member import ConsumerMember
from .consumer.records import consumer_records, consumer_tombstones
from .conversion import downgrade, may_downgrade
from .settings import GroupSettings

if TYPE_CHECKING:
    from .share.group import ShareGroup
    from .share.member import ShareMember
    from .streams.changes import Changes
    from .streams.group import StreamsGroup

FORMER_EPOCHS_KEPT = 100_000
_RETENTION_TIMER = "offsets retention"

Group: TypeAlias = "ClassicGroup | ConsumerGroup | ShareGroup | StreamsGroup"


class GroupTable:
    """Groups by id. `offset_expiry` runs every offsets.retention.check.interval.ms while there are groups."""

    def __init__(
        self,
        timers: Timers,
        randomness: random.Random,
        settings: GroupSettings,
        cluster: ClusterView,
        offset_expiry: Check,
    ) -> None:
        self.timers, self.settings, self.cluster = timers, settings, cluster
        self._random, self._offset_expiry = randomness, offset_expiry
        self._groups: dict[str, Group] = {}
        self.share_groups: dict[str, ShareGroup] = {}
        """The share groups by id, because every deletion of a topic visits them."""
        self.former_epochs: dict[str, int] = {}
        """The highest epochs or generations of the groups that there were before the present state was restored."""

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups.values())

    def get(self, group_id: str) -> Group | None:
        return self._groups.get(group_id)

    def reload(self, settings: GroupSettings) -> None:
        """Applies changed broker settings, also to existing groups."""
        self.settings = settings
        for group in self:
            group.settings = settings

    def store(self, group: Group) -> None:
        """Adds a group, or replaces the one with the same id."""
        self._groups[group.group_id] = group
        if group.type == "share":
            self.share_groups[group.group_id] = group
        else:
            self.share_groups.pop(group.group_id, None)
        if _RETENTION_TIMER not in self.timers:
            self.set_retention_timer()

    def remove(self, group_id: str) -> None:
        del self._groups[group_id]
        self.share_groups.pop(group_id, None)
        self.former_epochs.pop(group_id, None)

    def continue_from(self, former: GroupTable, unchanged: Container[str]) -> None:
        """Raises the epochs of all groups that were others in the cluster before, so that no epoch means two assignments.

        Their members are fenced and join again. The epoch alone does not tell whether a group is `unchanged`, because a group that was
        created again may have reached the same epoch with another assignment. Remembers all groups that there were, up to a limit.
        """
        epochs = former.former_epochs | {group.group_id: group.epoch for group in former}
        for group in self:
            newest = epochs[group.group_id] = max(epochs.get(group.group_id, group.epoch), former.former_epochs.get(group.group_id, 0))
            if group.group_id not in unchanged:
                group.begin_epoch_for_all(newest + 1)
        self.former_epochs = dict(list(epochs.items())[-FORMER_EPOCHS_KEPT:])

    def check_former(self, group_id: str, member_id: str) -> None:
        """Raises KafkaError with UNKNOWN_MEMBER_ID for a member of a group that a restored state lacks, so that the member joins again.

        GROUP_ID_NOT_FOUND, which Kafka answers for a group that never existed, would end the client.
        """
        if group_id in self.former_epochs:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}.")

    def set_retention_timer(self) -> None:
        self.timers.set(_RETENTION_TIMER, self._offset_expiry.interval_ms(), self._offset_expiry)

    def cancel_retention_timer_if_unused(self) -> None:
        if not self._groups:
            self.timers.cancel(_RETENTION_TIMER)

    def new_group(self, kind: str, group_id: str) -> Group:
        """Returns a new group of the class whose attribute `type` is `kind`."""
        new: Mapping[str, Callable[[str], Group]] = {
            "classic": self.new_classic_group,
            "consumer": self.new_consumer_group,
            "share": self.new_share_group,
            "streams": self.new_streams_group,
        }
        return new[kind](group_id)

    # Classic groups

    def new_classic_group(self, group_id: str) -> ClassicGroup:
        """Returns a new group. Its state is written only while it is the stored group with its id."""

        def write() -> None:
            if self._groups.get(group_id) is group:
                self.cluster.write(group_id, [group.record])

        group = ClassicGroup(group_id, self.timers, self._random, self.settings, write, partial(self.cluster.tell, "group"))
        return group

    def create_classic_group(self, group_id: str, replaced: ConsumerGroup | StreamsGroup | None) -> ClassicGroup:
        """Creates, writes and stores a group. `replaced` is an empty group of another kind with the same id, if there is one."""
        classic = self.new_classic_group(group_id)
        records = [] if replaced is None else tombstones(replaced)
        self.cluster.write(group_id, [*records, classic.record])
        if replaced is not None:
            replaced.delete()
        self.store(classic)
        return classic

    def ensure_group(self, group_id: str) -> None:
        """Creates a group for offsets that are committed without members. Kafka does not write such a group."""
        if group_id not in self._groups:
            self.store(self.new_classic_group(group_id))

    def classic_step(self, group: ClassicGroup, member_ids: Iterable[str]) -> AbstractContextManager[None]:
        """Returns a savepoint for a request that may change the group, these members and their waiting requests."""
        return reverted_on_failure(self.timers, group, *group.members.revertible_parts(member_ids))

    # Consumer groups

    def new_consumer_group(self, group_id: str) -> ConsumerGroup:
        return ConsumerGroup(group_id, self.timers, self._random, self.settings, self.cluster, self.remove_members)

    def write(self, group: ConsumerGroup) -> None:
        """Writes the changes of a consumer group."""
        if records := consumer_records(group, self.timers.now_ms):
            self.cluster.write(group.group_id, records)

    @contextmanager
    def consumer_step(self, group: ConsumerGroup, member_id: str) -> Iterator[None]:
        """Provides a savepoint for a request of one member. It also restores the group's place in the table after a failed conversion."""
        member = group.members.get(member_id)
        parts = [group, group.subscriptions, group.journal, *([member] if member else [])]
        try:
            with reverted_on_failure(self.timers, *parts):
                yield
        except BaseException:
            self._groups[group.group_id] = group
            raise

    def remove_members(self, group: ConsumerGroup, members: list[ConsumerMember]) -> None:
        """Removes members that leave or expire. If only classic members remain, converts the group to a classic one."""
        if may_downgrade(group, members, self.settings):
            self.downgrade(group, members).rebalance("the group was a consumer group")
        else:
            group.remove(members)
            self.write(group)

    def downgrade(self, group: ConsumerGroup, removed: Collection[ConsumerMember]) -> ClassicGroup:
        """Replaces a consumer group by a classic one with the same members except those `removed`, and writes both."""
        classic = self.new_classic_group(group.group_id)
        downgrade(group, removed, classic, self.cluster)
        self._groups[group.group_id] = classic
        self.cluster.write(group.group_id, [*consumer_records(group, self.timers.now_ms), classic.record])
        return classic

    # Share groups

    def new_share_group(self, group_id: str) -> ShareGroup:
        from .share.group import ShareGroup

        return ShareGroup(group_id, self.timers, self.settings, self.cluster, self.remove_share_member)

    def write_share(self, group: ShareGroup) -> None:
        """Writes the changes of a share group."""
        from .share.records import share_records

        if records := share_records(group):
            self.cluster.write(group.group_id, records)

    def remove_share_member(self, group: ShareGroup, member: ShareMember) -> None:
        """Removes a member that leaves or expires."""
        group.remove(member)
        self.write_share(group)

    # Streams groups

    def new_streams_group(self, group_id: str) -> StreamsGroup:
        from .streams.group import StreamsGroup

        return StreamsGroup(group_id, self.timers, self.settings, self.cluster, self._expire_streams_member, self._assign_delayed)

    def change_streams_group(self, group: StreamsGroup, changes: Changes) -> None:
        """Writes and applies changes. They are not applied if writing raises."""
        if changes:
            self._write_streams(group, changes)
            group.apply(changes)

    def _write_streams(self, group: StreamsGroup, changes: Changes) -> None:
        from .streams.records import streams_records

        self.cluster.write(group.group_id, streams_records(group.group_id, changes))

    def _expire_streams_member(self, group: StreamsGroup, member_id: str) -> None:
        """Removes a member, also if the removal cannot be written."""
        changes = group.removal(member_id)
        group.apply(changes)
        self._write_streams(group, changes)

    def _assign_delayed(self, group: StreamsGroup) -> None:
        self.change_streams_group(group, group.delayed_assignment())


def tombstones(group: ClassicGroup | ConsumerGroup | StreamsGroup) -> list[CoordinatorRecord]:
    """Returns the tombstones of a group without members."""
    if group.type == "streams":
        from .streams.records import streams_tombstones

        return streams_tombstones(group.group_id)
    return [classic_tombstone(group.group_id)] if group.type == "classic" else consumer_tombstones(group.group_id)
