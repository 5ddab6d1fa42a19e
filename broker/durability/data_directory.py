"""The data directory of a cluster before and while it is used: whose it is, its lock, and how its logs are recovered.

It is one of Kafka's log directories. The nodes of a cluster share their logs, so that it contains each partition once; `meta.properties`
names the first node.
"""

from __future__ import annotations

import fcntl
import logging
import os
from pathlib import Path

from ...storage.directories import names
from ...storage.directories.log_directory import LogDirectory
from ...storage.directories.metadata_image import MetadataImage
from ...storage.directories.names import DamagedFile, PartitionName, replace_file
from ...storage.directories.open_files import delete_folder
from ...storage.directories.partition_files import Recovered
from ...storage.directories.stored_log import SegmentDamage, StoredLog, read_log
from ...storage.directories.text_files import MetaProperties, meta_properties_text, read_topic_id
from ..directories.selection import Selection
from ..directories.source import ImportSource
from ..settings.properties import InvalidConfig

log = logging.getLogger("kafka.log.LogManager")


class DataDirectory(LogDirectory):
    """The directory of `--data-dir`. `meta` is None for a new one.

    `cluster_id` is that of the configuration, None if the one in the directory is to be taken. Raises InvalidConfig if the directory
    cannot be used.
    """

    def __init__(self, path: Path, cluster_id: str | None = None) -> None:
        super().__init__(path.absolute())
        self._cluster_id = cluster_id
        self.recovered: dict[PartitionName, Recovered] = {}
        self._locks: list[int] = []
        try:
            self.path.mkdir(names.ONLY_OWNER, parents=True, exist_ok=True)
            self._check(cluster_id)
        except DamagedFile as error:
            raise InvalidConfig(f"cannot use the data directory: {error}") from None
        except OSError as error:
            raise InvalidConfig(f"cannot use the data directory {self.path}: {error.strerror or error}") from None

    def _check(self, cluster_id: str | None) -> None:
        if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(13, "no permission to read and write it")
        if self.meta is None and any(path.name != names.LOCK and path.name != "lost+found" for path in self.path.iterdir()):
            raise InvalidConfig(f"{self.path} is not empty and no log directory: it has no meta.properties; give a new or an empty folder")
        if self.meta is not None and cluster_id not in (None, self.meta.cluster_id):
            raise InvalidConfig(f"{self.path} belongs to the cluster {self.meta.cluster_id}, not to {cluster_id}; give another folder")

    @property
    def is_in_use(self) -> bool:
        """False, because this process uses it. Looking at the lock would release it."""
        return False

    # The lock

    def open(self) -> DataDirectory:
        """Returns the directory as it is now, locked. Raises InvalidConfig, also if another cluster uses it.

        A lock that this object has passes to the returned one.
        """
        if not self._locks:
            self._lock()
        try:
            opened = DataDirectory(self.path, self._cluster_id)
        except InvalidConfig:
            self.unlock()
            raise
        opened._locks, self._locks = self._locks, opened._locks
        return opened

    def _lock(self) -> None:
        """Locks the directory as Kafka does, and against other clusters in this process. Raises InvalidConfig."""
        try:
            descriptor = os.open(self.path / names.LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InvalidConfig(f"cannot use the data directory {self.path}: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise InvalidConfig(f"another process uses the data directory {self.path}; stop it, or give another folder") from None
        self._locks.append(descriptor)

    def unlock(self) -> None:
        """Releases the lock, if there is one."""
        for descriptor in self._locks:
            os.close(descriptor)
        self._locks.clear()

    # The start

    def begin(self, cluster_id: str, node_id: int, directory_id: bytes) -> bytes:
        """Writes the identity of a new directory. Returns the id of the directory. Raises InvalidConfig for that of another node."""
        if self.meta is not None:
            if self.meta.node_id != node_id:
                raise InvalidConfig(f"{self.path} belongs to node {self.meta.node_id}, and the first node of this cluster is {node_id}")
            return self.meta.directory_id or directory_id
        properties = MetaProperties(node_id, cluster_id, directory_id)
        replace_file(self.path / names.META_PROPERTIES, meta_properties_text(properties).encode(), synced=True)
        return directory_id

    def source(self) -> ImportSource:
        """Returns the contents to recover. Folders that belong to no topic are set aside. Raises InvalidConfig, DamagedFile, OSError."""
        source = DataSource(self)
        for folder in [path for path in self.path.iterdir() if path.name.endswith(names.DELETED) and path.is_dir()]:
            delete_folder(folder)
        for name in [name for name in self.partitions if not self._is_known(name, source.image)]:
            folder = self.partitions.pop(name)
            aside = names.folder_set_aside(folder.name, os.urandom(names.UUID_BYTES), names.STRAY)
            log.warning("the folder %s belongs to no topic; it is renamed to %s", folder, aside)
            folder.rename(folder.with_name(aside))
        return source

    def _is_known(self, name: PartitionName, image: MetadataImage | None) -> bool:
        if image is None:
            return True
        try:
            topic = image.topics.get(read_topic_id(self.partitions[name] / names.PARTITION_METADATA))
        except (FileNotFoundError, DamagedFile):
            return False
        return topic is not None and topic.name == name.topic and name.partition in topic.partitions

    def read_log(self, name: PartitionName) -> StoredLog:
        """Returns the log of a partition, after its damaged end has been cut off. Raises DamagedFile, OSError."""
        folder = self.partitions[name]
        for path in [path for path in folder.iterdir() if path.suffix in (names.CLEANED, names.DELETED_FILE)]:
            path.unlink()
        recovery_point = None if self.was_stopped_in_order else self._recovery_points.get(name, 0)
        stored = read_log(folder, self._start_offsets.get(name), recovery_point, within_segments=True)
        bases = names.offsets_in(folder, names.LOG)
        if stored.damages:
            bases = _cut(folder, bases, stored.damages)
        if bases:
            size = (folder / names.offset_name(bases[-1], names.LOG)).stat().st_size
            checkpointed = stored.end_offset if recovery_point is None else min(recovery_point, stored.end_offset)
            self.recovered[name] = Recovered(bases, size, stored.start_offset, stored.end_offset, checkpointed)
        return stored


class DataSource(ImportSource):
    """The contents of a data directory, which has the logs of all nodes."""

    has_all_nodes = True

    def __init__(self, directory: DataDirectory) -> None:
        self._own = directory
        super().__init__([directory.path], Selection())

    def _directory(self, path: Path) -> LogDirectory:  # noqa: ARG002  (it is the path of this directory)
        return self._own


def _cut(folder: Path, bases: list[int], damages: list[SegmentDamage]) -> list[int]:
    """Truncates a damaged segment and deletes those after it. Returns the base offsets that remain. Raises OSError.

    A mapped file may be truncated here, because nothing reads the bytes behind the damage.
    """
    path, _, damage = damages[0]
    first = names.offset_of(path.name, names.LOG)
    kept = [base for base in bases if first is None or base < first or (base == first and (damage.position or base == bases[0]))]
    for base in bases:
        suffixes = (names.LOG, names.INDEX, names.TIME_INDEX, names.TRANSACTION_INDEX) if base not in kept else ()
        for suffix in suffixes:
            (folder / names.offset_name(base, suffix)).unlink(missing_ok=True)
    if first in kept:
        for suffix in (names.INDEX, names.TIME_INDEX):
            (folder / names.offset_name(kept[-1], suffix)).unlink(missing_ok=True)
        os.truncate(path, damage.position)
    return kept
