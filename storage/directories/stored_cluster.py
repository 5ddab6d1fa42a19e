"""The log directories of one cluster: its nodes, its metadata, and the copies of each partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ...protocol.stored.metadata_records import PartitionRecord
from .log_directory import LogDirectory
from .metadata_image import MetadataImage
from .metadata_log import read_metadata, read_records
from .names import BOOTSTRAP, PartitionName

NO_LEADER = -1


class WrongDirectory(ValueError):
    """A path is none of the `log.dirs` of a broker, or belongs to another cluster than the directories before it."""


class Copy(NamedTuple):
    """The copy of a partition that one node has."""

    node_id: int
    directory: LogDirectory


class StoredCluster:
    """The log directories of a cluster, by the id of their node. A node may have several.

    Raises WrongDirectory, also for a directory without `meta.properties`, DamagedFile, and OSError.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.directories: list[LogDirectory] = []
        self.nodes: dict[int, list[LogDirectory]] = {}
        self.cluster_id = ""
        for path in paths:
            self._add(path)

    def _add(self, path: Path) -> None:
        if not path.is_dir():
            raise WrongDirectory(f"{path} is no folder; give one of the log.dirs of a broker")
        directory = self._directory(path)
        if directory.meta is None:
            raise WrongDirectory(f"{path} has no meta.properties; give a folder that is one of the log.dirs of a broker")
        if self.cluster_id not in ("", directory.meta.cluster_id):
            raise WrongDirectory(f"{path} belongs to the cluster {directory.meta.cluster_id}, not to {self.cluster_id}")
        self.cluster_id = directory.meta.cluster_id
        self.directories.append(directory)
        self.nodes.setdefault(directory.meta.node_id, []).append(directory)

    def _directory(self, path: Path) -> LogDirectory:
        return LogDirectory(path)

    @cached_property
    def image(self) -> MetadataImage | None:
        """The metadata of the first directory that has any; None for directories of ZooKeeper's time. Raises DamagedFile, OSError.

        Before Apache Kafka has started on an export, the metadata is in `bootstrap.checkpoint`.
        """
        folders = [folder for each in self.directories if (folder := each.metadata_folder) is not None]
        if folders:
            return MetadataImage(read_metadata(folders[0]))
        files = [file for each in self.directories if (file := each.path / BOOTSTRAP).exists()]
        return MetadataImage(record.message for record in read_records(files[0]) if record.message) if files else None

    @cached_property
    def copies(self) -> dict[PartitionName, list[Copy]]:
        """The copies of each partition. Raises OSError."""
        found: dict[PartitionName, list[Copy]] = {}
        for node_id, directories in sorted(self.nodes.items()):
            for directory in directories:
                for name in directory.partitions:
                    found.setdefault(name, []).append(Copy(node_id, directory))
        return found

    def best_copy(self, name: PartitionName, record: PartitionRecord | None) -> Copy | None:
        """Returns the leader's copy of a partition, else that of an in-sync replica, else any; None if there is none."""
        copies = self.copies.get(name, [])
        wanted: Sequence[int] = [] if record is None else [record.leader, *record.isr]
        ranks = {node_id: rank for rank, node_id in reversed(list(enumerate(wanted)))}
        return min(copies, key=lambda copy: ranks.get(copy.node_id, len(wanted)), default=None)


def committed_end(copy: Copy, name: PartitionName, record: PartitionRecord | None) -> int | None:
    """Returns the offset up to which the records of a copy are known to be committed; None if the whole copy counts.

    For a follower that was running when its files were read or copied, or that was killed, this is the checkpointed high watermark, because
    the leader may not keep what the follower has fetched since. The copy of a leader, or of a follower that was stopped in order, counts as
    a whole, as it does when the broker starts again as the leader.
    """
    if record is None or record.leader in (copy.node_id, NO_LEADER) or copy.directory.was_stopped_in_order:
        return None
    return copy.directory.high_watermarks.get(name)
