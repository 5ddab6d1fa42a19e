"""All groups of a cluster by name, and the offsets that they have committed: what Kafka's group coordinator keeps.

A group is a classic one or a consumer group; an empty one becomes what is asked for, one with members may be converted. An answer that
has to wait goes to the `Reply` that came with the request. What changes is written to `__consumer_offsets`, as Kafka would.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.schema import ZERO_UUID
from ..scheduling.savepoint import taken_back_on_failure
from ..scheduling.timers import Timers
from ..scheduling.waiting import Reply
from ..transactions.transaction import Producer
from . import emulation
from .classic.group import ClassicGroup, log
from .classic.member import CONSUMER_PROTOCOL_TYPE, Join, JoinResult, Leave, Sync, SyncResult
from .cluster_view import ClusterView
from .consumer.assignors import Slot
from .consumer.group import ConsumerGroup
from .consumer.member import Beat, BeatResult, ConsumerMember
from .conversion import check_upgrade, downgrade, may_downgrade, upgrade
from .offsets import CommittedOffset, CommittedOffsets, OffsetIndex
from .records import classic_record, classic_tombstone, consumer_records, offset_record, tombstones
from .retention import has_expired
from .settings import GroupSettings

__all__ = ["Group", "GroupSettings", "Groups"]

_RETENTION_TIMER = "offsets retention"

Group = ClassicGroup | ConsumerGroup


class Groups:
    """The groups of a cluster. Member ids are made with `randomness`, time-outs are kept in `timers`."""

    def __init__(self, timers: Timers, randomness: random.Random, settings: GroupSettings, cluster: ClusterView) -> None:
        self._timers, self._random, self.settings, self._cluster = timers, randomness, settings, cluster
        self._groups: dict[str, Group] = {}
        self._offsets: dict[str, CommittedOffsets] = {}
        self._index = OffsetIndex()

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups.values())

    def get(self, group_id: str) -> Group | None:
        """The group of that name."""
        return self._groups.get(group_id)

    def reload(self, settings: GroupSettings) -> None:
        """Takes over what changed in the broker, for the groups that are there too."""
        self.settings = settings
        for group in self:
            group.settings = settings

    # Members of consumer groups.

    def beat(self, group_id: str, beat: Beat) -> BeatResult:
        """ConsumerGroupHeartbeat. Only who joins makes a new group, or has a classic one converted. Raises KafkaError."""
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            if group.has_no_news(beat):
                return group.beat_without_news(beat)
            with self._taken_back_on_failure(group, beat.member_id):
                result = group.beat(beat)
                self._write(group)
            return result
        if beat.epoch != 0:
            kind = "Group" if beat.epoch < 0 or group is not None else "Consumer group"
            reason = "not found" if group is None else "is not a consumer group"
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {group_id} {reason}.")
        return self._begin_consumer_group(group_id, group, beat)

    def _begin_consumer_group(self, group_id: str, classic: ClassicGroup | None, beat: Beat) -> BeatResult:
        """The first heartbeat: its group takes the place of a classic one, if there is one, only when all is written."""
        group = ConsumerGroup(group_id, self._timers, self._random, self.settings, self._cluster, self._retire)
        now_ms = self._timers.now_ms
        with self._timers.taken_back_on_failure():
            records = [] if classic is None else [classic_tombstone(group_id)]
            if classic is not None and not classic.is_empty:
                check_upgrade(classic, self.settings)
                upgrade(classic, group, self._cluster)
                records += consumer_records(group, now_ms)
            result = group.beat(beat)
            self._cluster.write(group_id, [*records, *consumer_records(group, now_ms)])
        if classic is not None:
            classic.dissolve()
            for member in group.members.values():
                group.renew_session(member)  # the classic group has just cancelled it
        self._store(group)
        return result

    def _write(self, group: ConsumerGroup) -> None:
        if records := consumer_records(group, self._timers.now_ms):
            self._cluster.write(group.group_id, records)

    @contextmanager
    def _taken_back_on_failure(self, group: ConsumerGroup, member_id: str) -> Iterator[None]:
        """Leaves a group as it was, and in its place, if what is done meanwhile for one of its members raises."""
        member = group.members.get(member_id)
        parts = [group, group.subscriptions, group.journal, *([member] if member else [])]
        try:
            with taken_back_on_failure(self._timers, *parts):
                yield
        except BaseException:
            self._groups[group.group_id] = group
            raise

    def _retire(self, group: ConsumerGroup, members: list[ConsumerMember]) -> None:
        """Members leave or have been silent. If only classic ones are left, the group becomes a classic one."""
        if may_downgrade(group, members, self.settings):
            self._downgrade(group, members).rebalance("the group was a consumer group")
        else:
            group.remove(members)
            self._write(group)

    def _downgrade(self, group: ConsumerGroup, going: Collection[ConsumerMember]) -> ClassicGroup:
        classic = self._new_classic_group(group.group_id)
        downgrade(group, going, classic, self._cluster)
        self._groups[group.group_id] = classic
        now_ms = self._timers.now_ms
        self._cluster.write(group.group_id, [*consumer_records(group, now_ms), classic_record(classic, now_ms)])
        return classic

    # Members of classic groups.

    def join(self, group_id: str, join: Join, reply: Reply[JoinResult]) -> None:
        """JoinGroup. Only who asks for a member id makes a new group."""
        group = self._groups.get(group_id)
        if not group_id:
            reply.set(JoinResult(ErrorCode.INVALID_GROUP_ID, join.member_id))
        elif not self.settings.group_min_session_timeout_ms <= join.session_timeout_ms <= self.settings.group_max_session_timeout_ms:
            reply.set(JoinResult(ErrorCode.INVALID_SESSION_TIMEOUT, join.member_id))
        elif not join.can_be_answered:
            reply.set(JoinResult(ErrorCode.UNKNOWN_SERVER_ERROR))
        elif isinstance(group, ConsumerGroup) and not group.is_empty:
            reply.set(self._join_consumer_group(group, join))
        elif join.member_id and not isinstance(group, ClassicGroup):
            reply.set(JoinResult(ErrorCode.UNKNOWN_MEMBER_ID, join.member_id))
        else:
            classic = self._classic_group(group_id)
            replaced = classic.members.static_id(join.group_instance_id or "")
            with self._step(classic, [replaced]) if replaced else nullcontext():
                classic.join(join, reply)

    def _step(self, group: ClassicGroup, member_ids: Iterable[str]) -> AbstractContextManager[None]:
        """What may end with a record; without it the group, these members and what they wait for are as before."""
        return taken_back_on_failure(self._timers, group, *group.members.parts(member_ids))

    def _join_consumer_group(self, group: ConsumerGroup, join: Join) -> JoinResult:
        try:
            if self.settings.group_consumer_migration_policy.lower() == "disabled":
                raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
            with self._taken_back_on_failure(group, join.member_id):
                result = emulation.join(group, join, self._cluster.topics)
                # A static member may have come back that was the last one of the consumer protocol.
                if not result.error and join.group_instance_id is not None and may_downgrade(group, (), self.settings):
                    classic = self._downgrade(group, ())
                    if result.generation_id != classic.generation_id:
                        classic.rebalance("the group was a consumer group, and its members are in several epochs")
                else:
                    self._write(group)
            return result
        except KafkaError as error:
            return JoinResult(error.code)

    def sync(self, group_id: str, sync: Sync, reply: Reply[SyncResult]) -> None:
        """SyncGroup."""
        group = self._with_members(group_id)
        if isinstance(group, ClassicGroup):
            with self._step(group, group.members) if sync.member_id == group.leader else nullcontext():
                group.sync(sync, reply)
        elif group is None:
            reply.set(SyncResult(_missing(group_id)))
        else:
            try:
                reply.set(emulation.sync(group, sync, self._cluster.topics_by_id))
            except KafkaError as error:
                reply.set(SyncResult(error.code))

    def heartbeat(self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Heartbeat."""
        group = self._with_members(group_id)
        if isinstance(group, ClassicGroup):
            return group.heartbeat(member_id, group_instance_id, generation_id)
        if group is None:
            return _missing(group_id)
        try:
            return emulation.heartbeat(group, member_id, group_instance_id, generation_id)
        except KafkaError as error:
            return error.code

    def leave(self, group_id: str, leaves: Sequence[Leave]) -> list[ErrorCode]:
        """LeaveGroup: an error for each of `leaves`."""
        group = self._with_members(group_id)
        if isinstance(group, ClassicGroup):
            named = [leave.member_id or group.members.static_id(leave.group_instance_id or "") or "" for leave in leaves]
            with self._step(group, named):
                return group.leave(leaves)
        if group is None:
            return [_missing(group_id)] * len(leaves)
        errors, going = emulation.leave(group, leaves)
        if going:
            with self._taken_back_on_failure(group, ""):
                self._retire(group, going)
        return errors

    def delete(self, group_id: str) -> ErrorCode:
        """DeleteGroups, for one group: it goes with its offsets."""
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if error := group.check_delete():
            return error
        offsets = [(topic, index) for topic, partitions in self.offsets(group_id) for index in partitions]
        gone = [offset_record(group_id, topic, index, None) for topic, index in offsets]
        self._cluster.write(group_id, [*gone, *tombstones(group)])
        group.delete()
        del self._groups[group_id]
        for topic in (self._offsets.pop(group_id, None) or CommittedOffsets()).topics():
            self._index.forget_topic(group_id, topic)
        log.info("Group %s is deleted", group_id)
        return ErrorCode.NONE

    def _with_members(self, group_id: str) -> Group | None:
        """A group that may have members: the one without a name only stores offsets."""
        return self._groups.get(group_id) if group_id else None

    # Offsets.

    def check_commit(
        self,
        group_id: str,
        member_id: str,
        group_instance_id: str | None,
        generation_id: int,
        slots: Iterable[Slot] = (),
        *,
        understands_epochs: bool = True,
    ) -> ErrorCode:
        """Whether offsets may be committed. Who names no generation, as consumers without a group do, needs no group."""
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group.check_commit(member_id, generation_id, slots, understands_epochs)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND if generation_id >= 0 else ErrorCode.NONE
        return group.check_commit(member_id, group_instance_id, generation_id)

    def check_fetch(self, group_id: str, member_id: str | None, epoch: int) -> ErrorCode:
        """Whether a member may read offsets; only consumer groups ask who it is."""
        group = self._groups.get(group_id)
        return group.check_fetch(member_id, epoch) if isinstance(group, ConsumerGroup) else ErrorCode.NONE

    def check_metadata(self, metadata: str) -> ErrorCode:
        """OFFSET_METADATA_TOO_LARGE, going by characters as Java counts them."""
        length = len(metadata) if metadata.isascii() else len(metadata.encode("utf-16-le")) // 2
        return ErrorCode.OFFSET_METADATA_TOO_LARGE if length > self.settings.offset_metadata_max_bytes else ErrorCode.NONE

    def commit(self, group_id: str, offsets: Mapping[tuple[str, int], CommittedOffset]) -> None:
        """Commits offsets, by topic and partition, after `check_commit` and `check_metadata`; a group that is not there is made."""
        topics = self._cluster.topics
        records = [
            offset_record(group_id, topic, partition, committed, topics[topic].id if topic in topics else ZERO_UUID)
            for (topic, partition), committed in offsets.items()
        ]
        self._cluster.write(group_id, records)
        self._ensure_group(group_id)
        kept = self._offsets.setdefault(group_id, CommittedOffsets())
        for (topic, partition), committed in offsets.items():
            kept.commit(topic, partition, committed)
            self._index.add(group_id, topic)

    def check_transactional_commit(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int, slots: Iterable[Slot]
    ) -> ErrorCode:
        """Whether offsets may be committed with a transaction (KIP-447). Who names no generation needs no group."""
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            if generation_id == -1 and not member_id and group_instance_id is None:
                return ErrorCode.NONE
            error = group.check_commit(member_id, generation_id, slots, understands_epochs=True)
            return ErrorCode.ILLEGAL_GENERATION if error is ErrorCode.STALE_MEMBER_EPOCH else error
        if group is None:
            return ErrorCode.ILLEGAL_GENERATION if generation_id >= 0 else ErrorCode.NONE
        return group.check_transactional_commit(member_id, group_instance_id, generation_id)

    def commit_in_transaction(self, group_id: str, producer: Producer, offsets: Mapping[tuple[str, int], CommittedOffset]) -> None:
        """Keeps offsets, by topic and partition, until the producer's transaction ends; `check_transactional_commit` has allowed it.

        Raises StaleProducerEpoch.
        """
        records = [offset_record(group_id, topic, partition, committed) for (topic, partition), committed in offsets.items()]
        self._cluster.write(group_id, records, producer)
        self._ensure_group(group_id)
        pending = self._offsets.setdefault(group_id, CommittedOffsets()).pending
        for (topic, partition), committed in offsets.items():
            pending.add(producer.id, topic, partition, committed)
            self._index.add(group_id, topic, producer.id)

    def waiting_for(self, producer_id: int) -> list[str]:
        """The groups that have offsets in the open transaction of a producer."""
        waiting = []
        for group_id in self._index.waiting_for(producer_id):
            if producer_id in self.offsets(group_id).pending:
                waiting.append(group_id)
            else:  # its offsets were deleted meanwhile
                self._index.forget_producer(group_id, producer_id)
        return waiting

    def end_transaction(self, group_id: str, producer_id: int, *, committed: bool) -> None:
        """Commits or forgets the offsets of a group that were waiting for a producer's transaction."""
        offsets = self._offsets[group_id]
        topics = offsets.end_transaction(producer_id, committed=committed)
        self._index.forget_producer(group_id, producer_id)
        self._forget_unused(group_id, offsets, topics)

    def offsets(self, group_id: str) -> CommittedOffsets:
        """What a group has committed; nothing, if there is no such group."""
        return self._offsets.get(group_id) or CommittedOffsets()

    def check_delete_offsets(self, group_id: str) -> ErrorCode:
        """Whether an administrator may delete single offsets: not those of members whose topics nobody knows."""
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        may = isinstance(group, ConsumerGroup) or group.is_empty or group.protocol_type == CONSUMER_PROTOCOL_TYPE
        return ErrorCode.NONE if may else ErrorCode.NON_EMPTY_GROUP

    def delete_offset(self, group_id: str, topic: str, partition: int) -> ErrorCode:
        """OffsetDelete, for one partition, after `check_delete_offsets`; nothing committed is no error."""
        group = self._groups[group_id]
        if not group.is_empty and group.subscribes_to(topic):
            return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        self._delete_offsets(group_id, [(topic, partition)])
        return ErrorCode.NONE

    def topic_deleted(self, topic: str) -> None:
        """Forgets what was committed for a topic that is no more."""
        for group_id in self._index.with_offsets_of(topic):
            offsets = self.offsets(group_id)
            offsets.pending.delete(topic)
            self._delete_offsets(group_id, [(topic, index) for index in offsets.partitions(topic)])
            self._forget_unused(group_id, offsets, [topic])

    def _delete_offsets(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        offsets, partitions = self.offsets(group_id), list(partitions)
        gone = [offset_record(group_id, *each, None) for each in partitions if offsets.get(*each) is not None]
        if gone:
            self._cluster.write(group_id, gone)
        for each in partitions:
            offsets.delete(*each)
        self._forget_unused(group_id, offsets, dict.fromkeys(topic for topic, _ in partitions))

    def _forget_unused(self, group_id: str, offsets: CommittedOffsets, topics: Iterable[str]) -> None:
        for topic in topics:
            if not offsets.concerns(topic):
                self._index.forget_topic(group_id, topic)

    # Groups come and go.

    def _ensure_group(self, group_id: str) -> None:
        """Makes the group of offsets that are committed without members."""
        if group_id not in self._groups:
            self._store(self._new_classic_group(group_id))

    def _classic_group(self, group_id: str) -> ClassicGroup:
        """The classic group of that name; one is made and written if there is none, or only an empty consumer group."""
        group = self._groups.get(group_id)
        if isinstance(group, ClassicGroup):
            return group
        classic = self._new_classic_group(group_id)
        records = [] if group is None else tombstones(group)
        self._cluster.write(group_id, [*records, classic_record(classic, self._timers.now_ms)])
        if group is not None:
            group.delete()
        self._store(classic)
        return classic

    def _new_classic_group(self, group_id: str) -> ClassicGroup:
        def write() -> None:
            if self._groups.get(group_id) is group:
                self._cluster.write(group_id, [classic_record(group, self._timers.now_ms)])

        group = ClassicGroup(group_id, self._timers, self._random, self.settings, write)
        return group

    def _store(self, group: Group) -> None:
        self._groups[group.group_id] = group
        if _RETENTION_TIMER not in self._timers:
            self._set_retention_timer()

    # Retention.

    def _set_retention_timer(self) -> None:
        self._timers.set(_RETENTION_TIMER, self.settings.offsets_retention_check_interval_ms, self._expire_offsets)

    def _expire_offsets(self) -> None:
        """Forgets offsets whose time is over, and groups that have neither offsets nor members left."""
        self._set_retention_timer()
        for group_id, group in list(self._groups.items()):
            is_expired = partial(has_expired, group, self._timers.now_ms, self.settings)
            expired = self.offsets(group_id).expired(is_expired)
            self._delete_offsets(group_id, expired)
            if expired:
                log.info("Group %s: %d offsets have expired", group_id, len(expired))
            if not self.offsets(group_id) and group.is_empty:
                self.delete(group_id)
        if not self._groups:
            self._timers.cancel(_RETENTION_TIMER)


def _missing(group_id: str) -> ErrorCode:
    return ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID
