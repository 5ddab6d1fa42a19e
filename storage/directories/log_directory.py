"""A log directory as a whole: whose it is, which partitions it has, and whether a broker uses it or stopped in order."""

from __future__ import annotations

import fcntl
import os
from functools import cached_property
from pathlib import Path

from . import names
from .names import PartitionName
from .stored_log import StoredLog, read_log
from .text_files import MetaProperties, read_meta_properties, read_offsets


class LogDirectory:
    """One of the `log.dirs` of a broker."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def meta(self) -> MetaProperties | None:
        """The identity of the directory, None without `meta.properties`. Raises DamagedFile, OSError."""
        try:
            return read_meta_properties(self.path / names.META_PROPERTIES)
        except FileNotFoundError:
            return None

    @cached_property
    def partitions(self) -> dict[PartitionName, Path]:
        """The folders of the partitions, without that of the metadata, in the order of their names. Raises OSError."""
        found = {name: path for path in self.path.iterdir() if path.is_dir() and (name := PartitionName.parse(path.name)) is not None}
        return {name: found[name] for name in sorted(found) if str(name) != names.METADATA_FOLDER}

    @property
    def metadata_folder(self) -> Path | None:
        """The folder of the metadata log, None in directories of ZooKeeper's time and in those of further disks of a broker."""
        folder = self.path / names.METADATA_FOLDER
        return folder if folder.is_dir() else None

    @cached_property
    def high_watermarks(self) -> dict[PartitionName, int]:
        """The checkpointed high watermarks. Raises DamagedFile, OSError."""
        return read_offsets(self.path / names.HIGH_WATERMARKS)

    @cached_property
    def _start_offsets(self) -> dict[PartitionName, int]:
        return read_offsets(self.path / names.START_OFFSETS)

    @cached_property
    def _recovery_points(self) -> dict[PartitionName, int]:
        return read_offsets(self.path / names.RECOVERY_POINTS)

    @property
    def was_stopped_in_order(self) -> bool:
        """Whether the broker has stopped in order, so that indexes and snapshots are complete."""
        return (self.path / names.CLEAN_SHUTDOWN).exists()

    @property
    def is_in_use(self) -> bool:
        """Whether a running broker has locked the directory."""
        try:
            descriptor = os.open(self.path / names.LOCK, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def read_log(self, name: PartitionName) -> StoredLog:
        """Returns the log of a partition. Its indexes are trusted after an orderly stop, and while a broker uses them.

        Raises DamagedFile, OSError.
        """
        recovery_point = None if self.was_stopped_in_order or self.is_in_use else self._recovery_points.get(name, 0)
        return read_log(self.partitions[name], self._start_offsets.get(name), recovery_point)
