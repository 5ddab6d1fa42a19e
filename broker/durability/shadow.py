"""Writes what a cluster has changed into its data directory at the end of each turn, before the responses of that turn.

Turns in which bytes have arrived end together (`Driver.end_turn_late`), so that the requests of many connections share one write.

Records of the metadata are written first, then the folders of deleted topics are removed, then the batches of each changed log are appended
by one system call. From time to time a checkpoint is made between turns, so that a start after a crash reads only the batches behind it.

If something cannot be written, the connections of that turn are closed without a response, so that nothing is acknowledged, and the next
turn tries again. Before that, `disk_room.py` refuses Produce with KAFKA_STORAGE_ERROR while the disk is nearly full.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial

from ...protocol.schema import Message
from ...storage.directories import names
from ...storage.directories.metadata_writer import MetadataWriter
from ...storage.directories.names import PartitionName, replace_file, sync
from ...storage.directories.open_files import OpenFiles
from ...storage.directories.partition_files import PartitionFiles, Recovered, base_offset_of
from ...storage.directories.text_files import EpochStart, offsets_text
from ...storage.segments import max_timestamp_of
from ...storage.shadowed_log import ShadowedLog
from ...storage.transaction_index import EndedTransaction
from ..cluster.state import ClusterState
from ..directories.exporting import NO_BROKER_EPOCH, producer_entries
from ..scheduling.waiting import NEXT_TURN, Background
from ..settings.types import LONG_MAX
from ..topics.partition import Partition, Topic
from .data_directory import DataDirectory
from .disk_room import DiskRoom
from .log_cache import LogCache
from .metadata_changes import WrittenMetadata

log = logging.getLogger("kafka.log.LogManager")

MAX_OPEN_FILES = 256
CHECKPOINT_BYTES = 16 * 1024 * 1024
MIN_CHECKPOINT_BYTES = 64 * 1024
"""Logs that have grown less than this wait for a later checkpoint, because reading them again after a crash takes no time."""
MAX_METADATA_BYTES = 16 * 1024 * 1024


class TornWrite(OSError):
    """A write was torn by a fault, with which the cluster has crashed: nothing is written any more."""


class Shadow:
    """The files of a cluster in a data directory. `sync` writes what has changed.

    `on_crash` is called within a write that `tear` has ordered to fail.
    """

    on_crash: Callable[[], None]

    def __init__(self, directory: DataDirectory, cluster: ClusterState) -> None:
        assert cluster.changed_logs is not None, "the cluster keeps no data"  # noqa: S101  (it narrows a type)
        self._directory, self._cluster, self._changes = directory, cluster, cluster.changed_logs
        first_id = next(iter(cluster.brokers))
        directory_id = directory.begin(cluster.cluster_id, first_id, b"\1" + cluster.random.randbytes(15))
        self._metadata = WrittenMetadata(cluster, {first_id: directory_id})
        self._writer = MetadataWriter(directory.path / names.METADATA_FOLDER)
        self._open_files = OpenFiles(MAX_OPEN_FILES)
        self._files: dict[ShadowedLog, PartitionFiles] = {}
        self._partitions: dict[ShadowedLog, Partition] = {}
        self._topics: dict[bytes, Topic] = {}
        """The topics that have changed, also deleted ones."""
        self._deleted: list[tuple[ShadowedLog, PartitionName]] = []
        self._metadata_changes = -1
        self._unwritten: list[Message] = []
        self._starts: dict[PartitionName, int] = {}
        """The start offsets that are not the base offset of a segment."""
        self._written_starts: dict[PartitionName, int] = {}
        self._unsaved: list[dict[ShadowedLog, int]] = []
        """The steps that are not written yet, see `LogChanges`."""
        self._grown: dict[ShadowedLog, int] = {}
        """The bytes that each log has grown since its checkpoint."""
        self._grown_bytes = 0
        self._is_checkpointing = self._has_failed = self._has_crashed = False
        self._owes_changes = False
        """Whether changes of this turn could not be written before its end."""
        self._torn_topic: str | None = None
        self._compacted: dict[ShadowedLog, None] = {}
        """The logs with compacted batches that are not in the files yet."""
        self._compaction: Background | None = None
        """The work that writes them, None if there is none."""
        self._cache = self._new_cache()

    def _new_cache(self) -> LogCache | None:
        room = self._cluster.log_memory
        if isinstance(room, DiskRoom) and room.cache_bytes is not None:
            return LogCache(room.cache_bytes, room, self._map_oldest)
        return None

    def begin(self) -> None:
        """Writes the state of the cluster, and follows it from now on. Raises OSError.

        The logs are those in the files of the data directory, or new.
        """
        cluster = self._cluster
        recovered, self._directory.recovered = self._directory.recovered, {}
        state = self._metadata.change(cluster.topics.values(), others=True)
        self._metadata_changes = cluster.metadata_log.changes
        self._writer.begin(state, cluster.timers.now_ms)
        self._remove_what_a_stop_has_left()
        cluster.topics.on_change = self._topic_changed
        for topic in cluster.topics.values():
            topic.on_change = self._topic_changed
            self._register(topic, recovered)
        self.sync()

    def _remove_what_a_stop_has_left(self) -> None:
        """Removes the mark of a stop in order, and the high watermarks, at which readers of a running broker's files would stop."""
        left = [path for name in (names.CLEAN_SHUTDOWN, names.HIGH_WATERMARKS) if (path := self._directory.path / name).exists()]
        for path in left:
            path.unlink()
        if left:
            sync(self._directory.path)

    def replace_all(self, cluster: ClusterState) -> Shadow:
        """Removes all records, and returns the files of the cluster that takes the place of this one. Raises OSError."""
        self._release()
        after = Shadow(self._directory, cluster)
        for path in list(self._directory.path.iterdir()):
            if PartitionName.parse(path.name) is not None and path.name != names.METADATA_FOLDER:
                aside = names.folder_set_aside(path.name, os.urandom(names.UUID_BYTES), names.DELETED)
                after._open_files.delete(path.rename(path.with_name(aside)))
        after.on_crash = self.on_crash
        after.begin()
        return after

    def _topic_changed(self, topic: Topic) -> None:
        self._topics[topic.id] = topic
        if self._cluster.topics.by_id.get(topic.id) is topic:
            self._register(topic, {})
            return
        for each in topic.partitions:
            if isinstance(each.log, ShadowedLog) and self._partitions.pop(each.log, None) is not None:
                self._grown.pop(each.log, None)
                self._deleted.append((each.log, _name(each)))

    def _register(self, topic: Topic, recovered: dict[PartitionName, Recovered]) -> None:
        for partition in topic.partitions:
            followed = partition.log
            if isinstance(followed, ShadowedLog) and followed not in self._partitions:
                self._partitions[followed] = partition
                if (found := recovered.get(_name(partition))) is not None:
                    self._adopt(partition, followed, found)
                followed.is_coordinator = topic.is_internal
                if followed.end_offset:
                    self._changes.add(followed)

    def _adopt(self, partition: Partition, followed: ShadowedLog, found: Recovered) -> None:
        name = _name(partition)
        files = self._files[followed] = PartitionFiles(self._directory.path / str(name), partition.topic.id, self._open_files, found)
        followed.settle(followed.end_offset)
        start = max(found.bases[-1], followed.start_offset)
        first = followed.read(start, 1, followed.end_offset, at_least_one=True)
        if first:
            files.first_timestamp = max_timestamp_of(first[0])
        if found.start_offset > found.bases[0]:
            self._starts[name] = self._written_starts[name] = found.start_offset

    # Writing

    def sync(self) -> bool:
        """Writes what has changed. Returns False if changes of this turn cannot be written; they are written later."""
        if self._has_crashed:
            return False
        is_new = bool(self._changes) or self._has_new_metadata or self._owes_changes
        if not is_new and not self._has_failed:
            return True
        self._owes_changes = False
        try:
            self._write_changes()
            if self._starts != self._written_starts:
                self._write_offsets(names.START_OFFSETS, self._starts)
                self._written_starts = dict(self._starts)
        except TornWrite:
            return False
        except OSError as error:
            if not self._has_failed:
                log.error("cannot write to %s: %s; nothing is acknowledged until that is possible", self._directory.path, error)
            self._has_failed = True
            return not is_new
        if self._has_failed:
            log.info("%s can be written again", self._directory.path)
            self._has_failed = False
        if self._grown_bytes >= CHECKPOINT_BYTES and not self._is_checkpointing:
            self._is_checkpointing = True
            self._cluster.background(self._checkpoint_grown(MIN_CHECKPOINT_BYTES))
        if self._cache is not None and self._cache.is_due:
            self._cluster.background(self._cache.shrink())
        return True

    @property
    def _has_new_metadata(self) -> bool:
        changes = self._cluster.metadata_log.changes
        return bool(self._topics) or self._metadata_changes != changes or self._metadata.needs_producer_ids

    def _write_changes(self) -> None:
        """Writes the changes of metadata and logs, also those that could not be written before. Raises OSError."""
        self._unsaved += self._changes.take()
        if self._unwritten or self._deleted or self._has_new_metadata:
            self._write_metadata()
            self._delete_folders()
        self._write_steps()

    def _write_before_end(self) -> None:
        """Writes the changes before the end of a turn, which fails like this if it fails. Raises OSError."""
        try:
            self._write_changes()
        except OSError:
            self._owes_changes = True
            raise

    def _delete_folders(self) -> None:
        while self._deleted:
            deleted, name = self._deleted[-1]
            if (files := self._files.get(deleted)) is not None:
                self._cluster.timers.cancel(files)
                files.delete()
                del self._files[deleted]
            self._starts.pop(name, None)
            self._deleted.pop()

    def _write_steps(self) -> None:
        if self._has_crashed:
            raise TornWrite
        while self._unsaved:
            step = self._unsaved[0]
            while step:
                changed, end = next(iter(step.items()))
                if (partition := self._partitions.get(changed)) is not None:
                    self._write_log(changed, partition, end)
                del step[changed]
            del self._unsaved[0]

    def _write_metadata(self) -> None:
        cluster = self._cluster
        number = cluster.metadata_log.changes
        if self._has_new_metadata:
            changes = self._metadata.change(self._topics.values(), others=number != self._metadata_changes)
            self._unwritten += changes
            self._topics.clear()
            self._metadata_changes = number
        if self._unwritten:
            self._writer.append(self._unwritten, cluster.timers.now_ms)
            self._unwritten.clear()
        if self._writer.size > MAX_METADATA_BYTES:
            self._writer.begin(self._metadata, cluster.timers.now_ms)

    def _write_log(self, changed: ShadowedLog, partition: Partition, end: int) -> None:
        """Writes the changes of a log, and of its batches those before the offset `end`. Raises OSError."""
        files = self._files.get(changed)
        if files is None:
            if not changed.end_offset:
                return
            folder = self._directory.path / str(_name(partition))
            files = self._files[changed] = PartitionFiles(folder, partition.topic.id, self._open_files)
            files.create()
        if changed.intact_end < files.end_offset:
            files.truncate_to(changed.intact_end, changed)
        if changed.replaced_before:
            self._note_compaction(files, changed, partition)
        end = min(end, changed.end_offset)
        if end > files.end_offset:
            self._append(files, changed, partition, end)
        if end > files.end_offset:  # all records were deleted before they were written
            files.roll(end, changed, _aborted_transactions(partition))
        if changed.start_offset != files.start_offset:
            self._move_start(files, changed, partition)
        self._flush(files, partition.topic.config.integers)
        changed.settle(files.end_offset)
        if self._cache is not None:
            self._cache.add(changed)

    def _note_compaction(self, files: PartitionFiles, changed: ShadowedLog, partition: Partition) -> None:
        files.note_compaction(min(changed.replaced_before, files.end_offset), _aborted_transactions(partition))
        self._compacted[changed] = None
        if self._compaction is None:
            self._compaction = self._write_compacted()
            self._cluster.background(self._compaction)

    def _write_compacted(self) -> Background:
        """Writes compacted segments in slices. A crash before the end leaves former ones, which a later start compacts again."""
        try:
            while self._compacted and not self._has_crashed:
                changed = next(iter(self._compacted))
                files = self._files.get(changed)
                for _ in () if files is None else files.write_compacted(changed):
                    yield NEXT_TURN
                    if self._files.get(changed) is not files:
                        break  # the topic was deleted
                del self._compacted[changed]
        except OSError as error:
            log.warning("compacted segments cannot be written to %s: %s; the next compaction tries it again", self._directory.path, error)
        finally:
            self._compaction = None

    def _flush(self, files: PartitionFiles, integers: Mapping[str, int]) -> None:
        """Waits for the disk if so many batches are new as flush.messages says, or sets the timer of flush.ms. Raises OSError."""
        unflushed, flush_ms = files.end_offset - files.flushed_end, integers["flush.ms"]
        if unflushed >= min(integers["flush.messages"], LONG_MAX if flush_ms else 1):
            files.flush()
        elif unflushed > 0 and flush_ms < LONG_MAX and files not in self._cluster.timers:
            self._cluster.timers.set(files, flush_ms, partial(self._flush_late, files, flush_ms))

    def _flush_late(self, files: PartitionFiles, flush_ms: int) -> None:
        try:
            files.flush()
        except OSError as error:
            log.warning("cannot flush %s: %s; it is tried again after flush.ms", files.folder, error)
            self._cluster.timers.set(files, flush_ms, partial(self._flush_late, files, flush_ms))

    def _append(self, files: PartitionFiles, changed: ShadowedLog, partition: Partition, end: int) -> None:
        """Appends the batches of a log before the offset `end`, in the segments in which Kafka would write them. Raises OSError."""
        integers = partition.topic.config.integers
        segment_bytes, segment_ms = integers["segment.bytes"], integers["segment.ms"]
        start = min(max(files.end_offset, changed.start_offset), end)
        slices = changed.read(start, sys.maxsize, end, at_least_one=False)
        size = sum(map(len, slices))
        if partition.topic.name == self._torn_topic and slices:
            self._crash(files, changed, partition, slices)
        newest = changed.newest_in_last_segment
        if files.bases and slices and files.size + size <= segment_bytes and newest - files.first_timestamp <= segment_ms:
            files.append(slices, end)
        else:
            self._append_in_segments(files, changed, partition, start, end)
        self._grown[changed] = self._grown.get(changed, 0) + size
        self._grown_bytes += size

    def _crash(self, files: PartitionFiles, changed: ShadowedLog, partition: Partition, slices: list[memoryview]) -> None:
        if not files.bases:
            files.roll(base_offset_of(slices[0]), changed, _aborted_transactions(partition))
        size = sum(map(len, slices))
        torn = self._cluster.random.randrange(1, size)
        files.tear(slices, torn)
        log.error("the write of %d bytes to %s has ended after %d bytes, and the cluster with it (torn_write)", size, files.folder, torn)
        self._has_crashed = True
        self.on_crash()
        raise TornWrite

    def _append_in_segments(self, files: PartitionFiles, changed: ShadowedLog, partition: Partition, start: int, end: int) -> None:
        integers = partition.topic.config.integers
        for base, following in partition.virtual_segments.of_log(changed, integers["segment.bytes"], integers["segment.ms"]):
            first, last = max(base, start), min(following, end)
            slices = changed.read(first, sys.maxsize, last, at_least_one=False) if first < last else []
            if slices:
                if not files.bases or base >= start:
                    files.roll(base_offset_of(slices[0]), changed, _aborted_transactions(partition))
                files.append(slices, last)

    def _move_start(self, files: PartitionFiles, changed: ShadowedLog, partition: Partition) -> None:
        """Deletes the segments before the start of a log."""
        name, start = _name(partition), changed.start_offset
        if start >= files.end_offset and files.size:
            files.end_offset = start
            files.roll(start, changed, _aborted_transactions(partition))
        files.delete_before(start)
        if files.bases and start > files.bases[0]:
            self._starts[name] = start
        else:
            self._starts.pop(name, None)

    def _write_offsets(self, file: str, offsets: dict[PartitionName, int]) -> None:
        replace_file(self._directory.path / file, offsets_text(offsets).encode(), synced=True)

    def _map_oldest(self, changed: ShadowedLog, size: int) -> None:
        """Writes what the files of a log lack, and maps about `size` of its oldest bytes. Raises OSError, DamagedFile."""
        self._write_before_end()
        partition = self._partitions.get(changed)
        if partition is not None and (files := self._files.get(changed)) is not None:
            files.map_oldest(changed, size)

    # Checkpoints

    def _checkpoint_grown(self, least_bytes: int) -> Background:
        """Makes checkpoints of the logs that have grown by `least_bytes`, one in each step."""
        try:
            for changed in [each for each, size in self._grown.items() if size >= least_bytes]:
                partition = self._partitions.get(changed)
                if partition is not None:
                    self._checkpoint_log(changed, partition)
                    yield NEXT_TURN
            self._grown_bytes = 0
            self._write_recovery_points()
        except OSError as error:
            log.warning("no checkpoint of %s could be written: %s", self._directory.path, error)
        finally:
            self._is_checkpointing = False

    def _checkpoint_log(self, changed: ShadowedLog, partition: Partition) -> None:
        self._write_before_end()
        files = self._files.get(changed)
        if files is not None:
            if files.compacted_before:
                return  # the index of transactions is that of the compacted batches
            epochs = [EpochStart(*each) for each in changed.epochs]
            files.checkpoint(changed, producer_entries(partition.producers), _aborted_transactions(partition), epochs)
        self._grown.pop(changed, None)

    def _write_recovery_points(self) -> None:
        points = {
            _name(partition): files.checkpointed_end
            for changed, partition in self._partitions.items()
            if (files := self._files.get(changed)) is not None and files.bases
        }
        self._write_offsets(names.RECOVERY_POINTS, points)

    # The end

    def tear(self, topic: str) -> None:
        """Lets the next write to a topic end within a batch. After that, the files are not written and no request is answered."""
        self._torn_topic = topic

    def abandon(self) -> None:
        """Ends without writing anything more, as a process that is killed."""
        self._has_crashed = True
        self._release()

    def close(self) -> None:
        """Writes everything as a broker does that stops in order. Logs an error if that is not possible."""
        try:
            if self.sync() and not self._has_failed:
                for _ in self._compaction or ():
                    pass
                self.checkpoint()
                replace_file(self._directory.path / names.CLEAN_SHUTDOWN, NO_BROKER_EPOCH.encode(), synced=True)
                sync(self._directory.path)
        except OSError as error:
            log.error("cannot complete %s: %s; the next start recovers it as after a crash", self._directory.path, error)
        finally:
            self._release()

    def _release(self) -> None:
        """Ends the work in the background, and closes all files."""
        if self._compaction is not None:
            self._compaction.close()
        self._open_files.close_all()
        self._writer.close()

    def checkpoint(self) -> None:
        """Makes checkpoints of all logs that have grown, after all files are on the disk, so that a start reads nothing again.

        Raises OSError.
        """
        for changed, partition in self._partitions.items():
            files = self._files.get(changed)
            if files is None:
                continue
            if changed in self._grown or files.checkpointed_end < files.end_offset:
                self._checkpoint_log(changed, partition)
            files.flush_all()
        self._write_recovery_points()
        self._write_offsets(names.START_OFFSETS, self._starts)
        watermarks = {_name(partition): partition.high_watermark for partition in self._partitions.values()}
        self._write_offsets(names.HIGH_WATERMARKS, watermarks)


def _name(partition: Partition) -> PartitionName:
    return PartitionName(partition.topic.name, partition.index)


def _aborted_transactions(partition: Partition) -> list[EndedTransaction]:
    return partition.producers.aborted(partition.log.start_offset, partition.log.end_offset)
