"""The parts that consumer groups, share groups and streams groups have in common: their members send heartbeats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.stored.coordinator_records import RecordType
from ..scheduling.timers import Timers
from ..topics.partition import Topic
from . import log
from .cluster_view import ClusterView
from .consumer.assignors import Slot
from .settings import GroupSettings


class _Member(Protocol):
    @property
    def member_id(self) -> str: ...


class _CommittingMember(_Member, Protocol):
    def check_fetch(self, epoch: int) -> ErrorCode: ...


M = TypeVar("M", bound=_Member)
C = TypeVar("C", bound=_CommittingMember)


class HeartbeatGroup(ABC, Generic[M]):
    """A group whose members renew their sessions by heartbeats. The timer ("session", group, member) removes a silent member."""

    type: str

    if TYPE_CHECKING:

        @property
        def epoch(self) -> int: ...
        @property
        def members(self) -> Mapping[str, M]: ...

    def __init__(self, group_id: str, timers: Timers, settings: GroupSettings, cluster: ClusterView) -> None:
        self.group_id = group_id
        self.timers, self.settings, self.cluster = timers, settings, cluster
        self.is_dead = False

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    @abstractmethod
    def _max_size(self) -> int: ...

    def setting(self, name: str, default: int) -> int:
        """Returns a setting of the group (config resource GROUP), else the broker's."""
        config = self.cluster.group_configs.get(self.group_id)
        return default if config is None else config.integers[name]

    def announce(self, text: str, *, separator: str = ": ") -> None:
        """Logs a change, and tells the record of it."""
        text = f"Group {self.group_id}{separator}{text}"
        log.info("%s", text)
        self.cluster.tell("group", text, group=self.group_id, epoch=self.epoch)

    # Members

    def find(self, member_id: str) -> M:
        """Returns a member. Raises KafkaError with UNKNOWN_MEMBER_ID."""
        if member_id not in self.members:
            raise self._unknown_member_error(member_id)
        return self.members[member_id]

    def _unknown_member_error(self, member_id: str) -> KafkaError:
        return KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}.")

    def check_room(self, member_id: str) -> None:
        """Raises KafkaError with GROUP_MAX_SIZE_REACHED if a new member with this id would exceed the maximum size of the group."""
        if len(self.members) >= self._max_size and member_id not in self.members:
            raise self.full_error

    @property
    def full_error(self) -> KafkaError:
        message = f"The {self.type} group has reached its maximum capacity of {self._max_size} members."
        return KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, message)

    # Sessions

    def renew_session(self, member: M) -> None:
        member_id = member.member_id
        self.timers.set(("session", self.group_id, member_id), self._session_timeout_ms(member), self.timer_action("session", member_id))

    @abstractmethod
    def _session_timeout_ms(self, member: M) -> int: ...

    @abstractmethod
    def timer_action(self, kind: str, member_id: str) -> Callable[[], None]:
        """Returns the action of the timer (kind, group, member)."""

    def suspend_sessions(self) -> None:
        """Ends the session timers of all members, because the coordinator has failed."""
        for member_id in self.members:
            self.timers.cancel(("session", self.group_id, member_id))

    def renew_sessions(self) -> None:
        """Starts the sessions of all members anew."""
        for member in self.members.values():
            self.renew_session(member)

    def coordinator_moved(self) -> None:
        """Starts the sessions of all members anew, because another coordinator has loaded the group. No request of a member waits."""
        self.renew_sessions()

    # Deletion

    def check_delete(self) -> ErrorCode:
        """Returns NON_EMPTY_GROUP if the group has members."""
        return ErrorCode.NON_EMPTY_GROUP if self.members else ErrorCode.NONE

    def delete(self) -> None:
        """Ends the group, after `check_delete`."""
        self.is_dead = True


class CommittingGroup(HeartbeatGroup[C]):
    """A group whose members commit offsets of the partitions that they own."""

    def check_commit(self, member_id: str, epoch: int, slots: Iterable[Slot], supports_member_epochs: bool) -> ErrorCode:
        """Returns NONE if a member may commit offsets of these partitions, otherwise an error.

        A group without members accepts commits with a negative epoch. In an older epoch a member may commit only partitions that it already
        owned then (KIP-1251). `supports_member_epochs` is False for versions of OffsetCommit without STALE_MEMBER_EPOCH.
        """
        if epoch < 0 and not self.members:
            return ErrorCode.NONE
        member = self.members.get(member_id)
        return ErrorCode.UNKNOWN_MEMBER_ID if member is None else self._check_commit(member, epoch, slots, supports_member_epochs)

    @abstractmethod
    def _check_commit(self, member: C, epoch: int, slots: Iterable[Slot], supports_member_epochs: bool) -> ErrorCode: ...

    def check_fetch(self, member_id: str | None, epoch: int) -> ErrorCode:
        """Returns NONE if a member may read offsets, otherwise an error.

        A request that names neither a member nor an epoch comes from an administrator.
        """
        if member_id is None and epoch < 0:
            return ErrorCode.NONE
        member = self.members.get(member_id or "")
        return ErrorCode.UNKNOWN_MEMBER_ID if member is None else member.check_fetch(epoch)


class Journal:
    """The parts of a group that have changed since its records were last written to `__consumer_offsets`.

    A group marks each part when it changes. At the end of each request one record is built for each changed part. Each part is contained
    once, in the order of the last changes.
    """

    __slots__ = ("_touched",)

    def __init__(self) -> None:
        self._touched: dict[tuple[RecordType, str], None] = {}

    def touch(self, kind: RecordType, name: str = "") -> None:
        """Marks a part as changed or removed. `name` is a member id or a regular expression, "" for parts of the whole group."""
        self._touched.pop((kind, name), None)
        self._touched[kind, name] = None

    def drain(self) -> list[tuple[RecordType, str]]:
        """Returns the parts changed since the last call."""
        touched, self._touched = self._touched, {}
        return list(touched)


def metadata_hash(names: Iterable[str], topics: Mapping[str, Topic]) -> int:
    """Returns a hash of the ids and numbers of partitions of those topics that exist, a signed 64-bit integer; 0 if none exists.

    A group compares it to notice that a topic was created, deleted or extended.
    """
    import hashlib

    found = sorted((topic.id, len(topic.partitions)) for name in names if (topic := topics.get(name)))
    digest = hashlib.blake2b(repr(found).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) if found else 0
