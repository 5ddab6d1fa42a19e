"""The share sessions of one broker (Kafka's ShareSessionCache): the partitions that a member reads, and the epoch of its next request.

Epoch 0 opens a session and replaces a former one of the member, -1 closes it. Each other request has the epoch of the one before plus 1. A
session ends with the connection on which it was opened. Kafka's cache knows only the last session that was opened on a connection; the
others count towards the limit until the broker restarts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError

FINAL_EPOCH, INITIAL_EPOCH, MAX_EPOCH = -1, 0, 2**31 - 1

PartitionKey = tuple[bytes, int]
"""(topic id, partition index)."""


def next_epoch(epoch: int) -> int:
    """Returns the epoch of the request after one with this epoch."""
    return 1 if epoch == MAX_EPOCH else epoch + 1


class SessionKey(NamedTuple):
    """A session belongs to one member of one group."""

    group_id: str
    member_id: str


class CachedSharePartition:
    """A partition of a session. `name` is the topic's name, "" if it was unknown when the partition was added.

    `must_tell` states that the next response contains the partition, whether or not there are records.
    """

    __slots__ = ("must_tell", "name")

    def __init__(self, name: str, *, must_tell: bool) -> None:
        self.name = name
        self.must_tell = must_tell


class ShareSession:
    """The partitions of a member in the order in which they are served. `epoch` is that of the next request."""

    __slots__ = ("connection_id", "epoch", "key", "partitions")

    def __init__(self, key: SessionKey, partitions: Iterable[tuple[PartitionKey, str]], connection_id: int) -> None:
        self.key = key
        self.partitions = {partition: CachedSharePartition(name, must_tell=False) for partition, name in partitions}
        self.epoch = next_epoch(INITIAL_EPOCH)
        self.connection_id = connection_id

    def update(self, added: Iterable[tuple[PartitionKey, str]], forgotten: Iterable[PartitionKey]) -> None:
        """Adds and removes partitions."""
        for partition, name in added:
            if partition not in self.partitions:
                self.partitions[partition] = CachedSharePartition(name, must_tell=True)
        for partition in forgotten:
            self.partitions.pop(partition, None)

    def tells(self, partition: PartitionKey, *, records: bool, error: bool) -> bool:
        """Returns whether a response has to contain a partition. One with records is served last from now on."""
        cached = self.partitions.get(partition)
        if cached is None:
            return records or error
        told = cached.must_tell or records or error
        cached.must_tell = error
        if records:
            self.partitions[partition] = self.partitions.pop(partition)
        return told


class ShareSessions:
    """The sessions of one broker, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._sessions: dict[SessionKey, ShareSession] = {}
        self._members: dict[str, int] = {}
        self._of_connection: dict[int, dict[SessionKey, None]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, key: SessionKey) -> ShareSession:
        """Returns the session of a member. Raises KafkaError with SHARE_SESSION_NOT_FOUND."""
        session = self._sessions.get(key)
        if session is None:
            raise KafkaError(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def open(self, key: SessionKey, partitions: Iterable[tuple[PartitionKey, str]], connection_id: int) -> ShareSession:
        """Opens a session in place of a former one.

        Raises KafkaError with SHARE_SESSION_LIMIT_REACHED, or with UNKNOWN_SERVER_ERROR if a partition is named twice.
        """
        self.remove(key)
        partitions = list(partitions)
        if len(dict(partitions)) < len(partitions):
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        if len(self._sessions) >= self.limit:
            raise KafkaError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = ShareSession(key, partitions, connection_id)
        self._sessions[key] = session
        self._of_connection.setdefault(connection_id, {})[key] = None
        self._members[key.group_id] = self._members.get(key.group_id, 0) + 1
        return session

    def resume(self, key: SessionKey, epoch: int) -> ShareSession:
        """Returns the session of a request, and advances its epoch.

        Raises KafkaError with SHARE_SESSION_NOT_FOUND or INVALID_SHARE_SESSION_EPOCH.
        """
        session = self.get(key)
        if session.epoch != epoch:
            raise KafkaError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = next_epoch(epoch)
        return session

    def remove(self, key: SessionKey) -> ShareSession | None:
        """Removes the session of a member, and returns it if there was one."""
        session = self._sessions.pop(key, None)
        if session is not None:
            self._members[key.group_id] -= 1
            if not self._members[key.group_id]:
                del self._members[key.group_id]
            keys = self._of_connection[session.connection_id]
            del keys[key]
            if not keys:
                del self._of_connection[session.connection_id]
        return session

    def of_connection(self, connection_id: int) -> list[SessionKey]:
        """Returns the keys of the sessions that were opened on a connection and are still open."""
        return list(self._of_connection.get(connection_id, ()))

    def has_group(self, group_id: str) -> bool:
        """Returns whether a group has sessions."""
        return group_id in self._members
