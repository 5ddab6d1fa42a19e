"""The log directories of one broker, and the moves of replicas between them (KIP-113; Kafka's LogManager and ReplicaManager).

Directories are only names, because records are in memory. With one directory there is nothing to keep. With several, each replica is in one
of them: that which a client has chosen for it, or else the one with the fewest replicas that is not cordoned (KIP-1066).

A replica that is moved has a second copy, its future replica, until that has caught up. The copy is not made: how far it would be follows
from the time and from the throttle `replica.alter.log.dirs.io.max.bytes.per.second`. Therefore a move needs no timer. It is completed by
the first request that looks at the directories afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...protocol.errors import ErrorCode, KafkaError
from ..scheduling.timers import Timers
from ..settings.values import BrokerConfig

if TYPE_CHECKING:
    from ..topics.partition import Partition
    from ..topics.topics import Topics

MOVE_MS = 500
"""The least duration of a move."""
RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
FETCH_BYTES = "replica.fetch.max.bytes"
ALL = "*"
MAX_CHOSEN = 10_000
MAX_FILE_NAME_LENGTH = 255
COPY_SUFFIX_LENGTH = len(f".{'0' * 32}-future")
"""Kafka's name for the folder of a copy ends with a dot, an id and this word."""


class Move(NamedTuple):
    """A replica that is being copied to another directory since a time. `allowed` bytes may have been copied until `counted_ms`."""

    directory: str
    began_ms: int
    counted_ms: int
    allowed: int


class Future(NamedTuple):
    """A future replica, as DescribeLogDirs shows it."""

    directory: str
    size: int
    offset_lag: int


class LogDirs:
    """The directories of one broker.

    `placed` and `moves` are by topic id and partition, `chosen` by topic name and partition, because the replica does not exist yet.
    """

    def __init__(self, node_id: int, config: BrokerConfig, topics: Topics, timers: Timers) -> None:
        self._node_id = node_id
        self._config = config
        self._topics = topics
        self._timers = timers
        self.placed: dict[tuple[bytes, int], str] = {}
        self.moves: dict[tuple[bytes, int], Move] = {}
        self.chosen: dict[tuple[str, int], str] = {}

    @property
    def names(self) -> Sequence[str]:
        """The directories in the order of the setting: log.dirs, else log.dir."""
        lists = self._config.lists
        return lists.get("log.dirs") or lists["log.dir"]

    def path(self, directory: str) -> str:
        """Returns the absolute path of a directory."""
        return str(Path(directory).absolute())

    def is_cordoned(self, directory: str) -> bool:
        cordoned = self._config.lists["cordoned.log.dirs"]
        return directory in cordoned or ALL in cordoned

    def refresh(self) -> None:
        """Places replicas that are new, forgets those that are gone, and completes the moves that are done."""
        if len(self.names) == 1:
            return
        present = {(partition.topic.id, partition.index): partition for partition in self._replicas()}
        self.placed = {key: directory for key, directory in self.placed.items() if key in present}
        self.moves = {key: move for key, move in self.moves.items() if key in present}
        counts = Counter(dict.fromkeys(self.names, 0))
        counts.update(self.placed.values())
        for key, partition in present.items():
            if key not in self.placed:
                directory = self.chosen.pop((partition.topic.name, partition.index), None) or self._emptiest(counts)
                self.placed[key] = directory
                counts[directory] += 1
            elif key in self.moves and self._has_moved(partition, self.moves[key]):
                self.placed[key] = self.moves.pop(key).directory

    def directory(self, partition: Partition) -> str:
        """Returns the directory of a replica; the first one for a replica that was created after the last `refresh`."""
        return self.placed.get((partition.topic.id, partition.index)) or self.names[0]

    def future(self, partition: Partition) -> Future | None:
        """Returns the copy of a replica that is being moved, None if it is not."""
        move = self.moves.get((partition.topic.id, partition.index))
        if move is None:
            return None
        size, offset = self._copied_part(partition, move)
        return Future(move.directory, size, partition.log.end_offset - offset)

    def move(self, topic_name: str, index: int, path: str) -> None:
        """Begins to move a replica to the directory with an absolute path, or ends a move if the replica is there already.

        The directory is remembered for a replica that does not exist yet. Raises KafkaError with LOG_DIR_NOT_FOUND,
        INVALID_TOPIC_EXCEPTION for a name that is too long for the folder of the copy (KAFKA-4893), INVALID_REPLICA_ASSIGNMENT for a
        cordoned directory, UNKNOWN_TOPIC_OR_PARTITION, or REPLICA_NOT_AVAILABLE for a partition of which this broker has no replica.
        """
        if len(f"{topic_name}-{index}") + COPY_SUFFIX_LENGTH > MAX_FILE_NAME_LENGTH:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        directory = next((name for name in self.names if self.path(name) == path), None)
        if directory is None:
            raise KafkaError(ErrorCode.LOG_DIR_NOT_FOUND)
        if self.is_cordoned(directory):
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT)
        partition = self._topics.find_partition(topic_name, index)
        if partition is None or self._node_id not in partition.replicas:
            self._choose(topic_name, index, directory)
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if partition is None else ErrorCode.REPLICA_NOT_AVAILABLE)
        if len(self.names) == 1:
            return
        key = partition.topic.id, index
        if self.directory(partition) == directory:
            self.moves.pop(key, None)
        elif key not in self.moves or self.moves[key].directory != directory:
            now_ms = self._timers.now_ms
            self.moves[key] = Move(directory, now_ms, now_ms, self._config.integers[FETCH_BYTES])

    def count(self) -> None:
        """Brings all moves up to the present time. Called before the throttle changes."""
        self.refresh()
        now_ms = self._timers.now_ms
        self.moves = {key: move._replace(counted_ms=now_ms, allowed=self._allowed_bytes(move)) for key, move in self.moves.items()}

    def _allowed_bytes(self, move: Move) -> int:
        """Returns how many bytes may have been copied until now.

        The first fetch is not throttled, and later ones read what the throttle permits on average.
        """
        waited_ms = self._timers.now_ms - move.counted_ms
        return move.allowed + self._config.integers[RATE] * waited_ms // 1000

    def _choose(self, topic_name: str, index: int, directory: str) -> None:
        """Remembers the directory of a replica that may be created later; the oldest choices are forgotten."""
        self.chosen[topic_name, index] = directory
        if len(self.chosen) > MAX_CHOSEN:
            del self.chosen[next(iter(self.chosen))]

    def _replicas(self) -> Iterable[Partition]:
        return (each for each in self._topics.partitions() if self._node_id in each.replicas)

    def _emptiest(self, counts: Counter[str]) -> str:
        usable = [name for name in self.names if not self.is_cordoned(name)]
        return min(usable or self.names, key=lambda name: counts[name])

    def _has_moved(self, partition: Partition, move: Move) -> bool:
        waited_ms = self._timers.now_ms - move.began_ms
        return waited_ms >= MOVE_MS and self._copied_part(partition, move)[1] >= partition.log.end_offset

    def _copied_part(self, partition: Partition, move: Move) -> tuple[int, int]:
        """Returns the bytes that have been copied, and the offset up to which they reach: whole batches, and one at least."""
        log, allowed = partition.log, self._allowed_bytes(move)
        low, high = log.start_offset, log.end_offset
        if log.available(low, high) <= allowed:
            return log.available(low, high), high
        while high - low > 1:  # `low` is copied, `high` is not
            middle = (low + high) // 2
            if log.available(log.start_offset, log.batch_start(middle)) <= allowed:
                low = middle
            else:
                high = middle
        copied = log.batch_start(low)
        if copied > log.start_offset:
            return log.available(log.start_offset, copied), copied
        from ...protocol.batches.records import read_header

        (batch,) = log.read(log.start_offset, 1, log.end_offset, at_least_one=True)
        return len(batch), read_header(batch).last_offset + 1
