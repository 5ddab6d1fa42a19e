"""The names of files and folders in a log directory (Kafka's LogFileUtils, Snapshots), and ids as text."""

from __future__ import annotations

import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ...protocol.regular_files import open_to_read

LOG, INDEX, TIME_INDEX, TRANSACTION_INDEX, PRODUCERS = ".log", ".index", ".timeindex", ".txnindex", ".snapshot"
META_PROPERTIES, PARTITION_METADATA, EPOCHS = "meta.properties", "partition.metadata", "leader-epoch-checkpoint"
RECOVERY_POINTS, HIGH_WATERMARKS = "recovery-point-offset-checkpoint", "replication-offset-checkpoint"
START_OFFSETS, CLEANER_OFFSETS = "log-start-offset-checkpoint", "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN, LOCK = ".kafka_cleanshutdown", ".lock"
CLEANED, DELETED_FILE = ".cleaned", ".deleted"
"""The ends of the names of files that are not complete, or are to be deleted. A start deletes them."""
BOOTSTRAP = "bootstrap.checkpoint"
DELETED, STRAY = "-delete", "-stray"
"""The ends of the names of folders that belong to no topic any more."""
METADATA_FOLDER = "__cluster_metadata-0"
MAX_OFFSET = 2**63 - 1
ONLY_OWNER = 0o700
"""The mode of new folders, because other users of the machine must not read the records."""
UUID_BYTES = 16
MAX_KEPT_CHARACTERS = 200

_PARTITION_FOLDER = re.compile(r"([a-zA-Z0-9._-]{1,249})-(0|[1-9][0-9]{0,9})", re.ASCII)
_OFFSET_FILE = re.compile(r"([0-9]{20})(\.[a-z]+)", re.ASCII)
_METADATA_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint", re.ASCII)


class DamagedFile(ValueError):
    """A file has other contents than Kafka writes into a file of its name. `str` names the file and what is wrong."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason


def read_file(path: Path, most_bytes: int) -> bytes:
    """Returns the contents that a file has now, which may be growing. Raises DamagedFile for more than `most_bytes`, and OSError."""
    with open_to_read(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            raise DamagedFile(path, f"it has {size} bytes; Kafka writes at most {most_bytes}")
        return file.read(size)


def replace_file(path: Path, *parts: bytes | memoryview, synced: bool = False) -> None:
    """Writes a file, which readers see with its former or with its new contents, also after a crash. Raises OSError.

    With `synced`, the same is true after a power loss. The name of the temporary file is one that Kafka deletes when it starts.
    """
    temporary = path.with_name(path.name + CLEANED)
    try:
        with temporary.open("wb") as file:
            for part in parts:
                file.write(part)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def sync(path: Path) -> None:
    """Waits until the contents of a file, or the names in a folder, are on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class PartitionName(NamedTuple):
    """The name of a partition's folder."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"

    @classmethod
    def parse(cls, folder: str) -> PartitionName | None:
        """Returns the partition of a folder, None for other folders, as those of deleted, stray and future replicas are."""
        found = _PARTITION_FOLDER.fullmatch(folder)
        return None if found is None else cls(found[1], int(found[2]))


def folder_set_aside(folder: str, identifier: bytes, suffix: str) -> str:
    """Returns the new name of a partition's folder that belongs to no topic, which is short enough for a file system (LocalLog)."""
    return f"{folder[-MAX_KEPT_CHARACTERS:]}.{identifier.hex()}{suffix}"


def offset_name(offset: int, suffix: str) -> str:
    """Returns the name of a segment's file."""
    return f"{offset:020d}{suffix}"


def offset_of(name: str, suffix: str) -> int | None:
    """Returns the offset in the name of a segment's file, None if the file has another name or suffix."""
    found = _OFFSET_FILE.fullmatch(name)
    if found is None or found[2] != suffix or int(found[1]) > MAX_OFFSET:
        return None
    return int(found[1])


def offsets_in(folder: Path, suffix: str) -> list[int]:
    """Returns the offsets in the names of a partition's files with this suffix, in ascending order. Raises OSError."""
    return sorted(offset for path in folder.iterdir() if (offset := offset_of(path.name, suffix)) is not None)


class SnapshotId(NamedTuple):
    """The end offset and the epoch of a snapshot of the metadata."""

    offset: int
    epoch: int

    @classmethod
    def parse(cls, name: str) -> SnapshotId | None:
        """Returns the id in the name of a file, None for other files."""
        found = _METADATA_SNAPSHOT.fullmatch(name)
        return None if found is None else cls(int(found[1]), int(found[2]))

    @property
    def file_name(self) -> str:
        """The name of the snapshot's file."""
        return f"{self.offset:020d}-{self.epoch:010d}.checkpoint"


def id_text(identifier: bytes) -> str:
    """Returns the text of an id of 16 bytes (Kafka's Uuid): base 64 without padding."""
    return urlsafe_b64encode(identifier).decode().rstrip("=")


def id_bytes(text: str) -> bytes:
    """Returns the 16 bytes of an id. Raises ValueError for other texts."""
    identifier = urlsafe_b64decode(text.encode("ascii") + b"==")
    if len(identifier) != UUID_BYTES:
        raise ValueError(f"{text!r} is no id of {UUID_BYTES} bytes in base 64")
    return identifier
