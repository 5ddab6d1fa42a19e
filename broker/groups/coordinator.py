"""The group coordinator of the cluster: all groups and their committed offsets, as Kafka's GroupCoordinatorService keeps them.

A group is a classic group, a consumer group, a share group or a streams group. An empty classic group becomes the kind that the next
joining member needs, except a share group, and an empty consumer or streams group a classic one. Classic and consumer groups with members
may be converted (`conversion`); share groups never change their kind. Every change is written to `__consumer_offsets` as Kafka writes it
(`ClassicGroup.record`, `consumer.records`, `share.records`, `streams.records`, `offsets.offset_record`).
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from ...protocol.errors import ErrorCode
from ..scheduling.timers import Check, Timers
from . import log
from .classic.requests import ClassicRequests
from .cluster_view import ClusterView
from .consumer.requests import ConsumerRequests
from .offset_requests import OffsetRequests
from .offsets import offset_record
from .settings import GroupSettings
from .table import Group, GroupTable, tombstones

if TYPE_CHECKING:
    from .share.requests import ShareRequests
    from .streams.requests import StreamsRequests

__all__ = ["Group", "GroupSettings", "Groups"]


class Groups:
    """The groups of a cluster, by kind of request: `classic`, `consumer`, `share`, `streams` and `offsets`.

    `randomness` generates member ids; `timers` provides the time and runs timeouts.
    """

    def __init__(self, timers: Timers, randomness: random.Random, settings: GroupSettings, cluster: ClusterView) -> None:
        self.offset_expiry = Check(
            self.expire_offsets, lambda: self.settings.offsets_retention_check_interval_ms, self._next_offset_expiry_ms
        )
        self._table = GroupTable(timers, randomness, settings, cluster, self.offset_expiry)
        self.classic = ClassicRequests(self._table)
        self.consumer = ConsumerRequests(self._table)
        self.offsets = OffsetRequests(self._table)

    @cached_property
    def share(self) -> ShareRequests:
        """The requests of share groups."""
        from .share.requests import ShareRequests

        return ShareRequests(self._table)

    @cached_property
    def streams(self) -> StreamsRequests:
        """The requests of streams groups."""
        from .streams.requests import StreamsRequests

        return StreamsRequests(self._table)

    def __iter__(self) -> Iterator[Group]:
        return iter(self._table)

    def get(self, group_id: str) -> Group | None:
        return self._table.get(group_id)

    @property
    def settings(self) -> GroupSettings:
        return self._table.settings

    def load(self, kind: str, group_id: str, epoch: int) -> Group:
        """Adds a group without members that was read from `__consumer_offsets`, with its epoch or generation, and returns it.

        `kind` is the attribute `type` of the group's class. A group of another kind with the same id is replaced.
        """
        group = self._table.get(group_id)
        if group is None or group.type != kind:
            group = self._table.new_group(kind, group_id)
            self._table.store(group)
        if epoch > group.epoch:
            group.begin_epoch_for_all(epoch)
        return group

    def forget(self, group_id: str) -> None:
        """Removes a group that `load` has added, because its tombstone was read."""
        if self._table.get(group_id) is not None:
            self._table.remove(group_id)

    def continue_from(self, former: Groups, unchanged: Container[str]) -> None:
        """Continues the epochs of the groups of the cluster before, whose members may still be connected, except of `unchanged` ones."""
        self._table.continue_from(former._table, unchanged)

    def reload(self, settings: GroupSettings) -> None:
        """Applies changed broker settings, also to existing groups."""
        self._table.reload(settings)
        self.offsets.reload()

    def delete(self, group_id: str) -> ErrorCode:
        """Deletes a group and its offsets (DeleteGroups). Returns GROUP_ID_NOT_FOUND or NON_EMPTY_GROUP if that is impossible."""
        group = self._table.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if error := group.check_delete():
            return error
        if group.type == "share":
            if error := self.share.delete(group):
                return error
        else:
            offsets = [(topic, index) for topic, partitions in self.offsets.of(group_id) for index in partitions]
            records = [offset_record(group_id, topic, index, None) for topic, index in offsets]
            self._table.cluster.write(group_id, [*records, *tombstones(group)])
        group.delete()
        self._table.remove(group_id)
        self.offsets.forget_group(group_id)
        log.info("Group %s is deleted", group_id)
        return ErrorCode.NONE

    def expire_offsets(self) -> None:
        """Deletes expired offsets, and groups that have neither offsets nor members left."""
        self._table.set_retention_timer()
        now_ms, may_expire = self._table.timers.now_ms, self.offsets.may_expire
        for group in [each for each in self._with_offsets() if may_expire(each.group_id, now_ms)]:
            self.offsets.expire(group.group_id)
            if not self.offsets.of(group.group_id) and group.is_empty:
                self.delete(group.group_id)
        self._table.cancel_retention_timer_if_unused()

    def _with_offsets(self) -> Iterator[Group]:
        """Yields the groups that may have committed offsets. Share groups have none, and Kafka keeps them until they are deleted."""
        return (group for group in self if group.type != "share")

    def _next_offset_expiry_ms(self) -> float:
        """Returns a time before which no offset expires if the groups stay as they are, 0 if there is no group, so that the timer ends."""
        if next(iter(self), None) is None:
            return 0
        return min((self.offsets.next_expiry_ms(group) for group in self._with_offsets()), default=inf)
