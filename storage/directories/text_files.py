"""The text files of a log directory: properties, and checkpoints of offsets and leader epochs (Kafka's CheckpointFile)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .names import MAX_OFFSET, DamagedFile, PartitionName, id_bytes, id_text, read_file

MAX_TEXT_BYTES = 256 * 1024 * 1024
CHECKPOINT_VERSION = 0


class MetaProperties(NamedTuple):
    """The file `meta.properties` of a log directory. Version 0 of ZooKeeper's time has `broker.id`; Kafka 3.7 added `directory_id`."""

    node_id: int
    cluster_id: str
    directory_id: bytes | None = None


def read_meta_properties(path: Path) -> MetaProperties:
    """Returns the identity of a log directory. Raises DamagedFile, OSError."""
    properties = _read_properties(path)
    if (version := properties.get("version", "0")) not in ("0", "1"):
        raise DamagedFile(path, f"it has version {version[:20]} instead of 0 or 1")
    try:
        node_id = int(properties.get("node.id") or properties["broker.id"])
        directory_id = properties.get("directory.id")
        return MetaProperties(node_id, properties["cluster.id"], None if directory_id is None else id_bytes(directory_id))
    except KeyError as error:
        raise DamagedFile(path, f"it has no {error.args[0]}") from None
    except ValueError as error:
        raise DamagedFile(path, str(error)) from None


def meta_properties_text(meta: MetaProperties) -> str:
    """Returns the contents of `meta.properties` in version 1."""
    directory = "" if meta.directory_id is None else f"directory.id={id_text(meta.directory_id)}\n"
    return f"version=1\nnode.id={meta.node_id}\ncluster.id={meta.cluster_id}\n{directory}"


def _read_properties(path: Path) -> Mapping[str, str]:
    pairs = (line.partition("=") for line in read_text(path).splitlines() if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip() for name, found, value in pairs if found}


def read_topic_id(path: Path) -> bytes:
    """Returns the id in `partition.metadata` (Kafka's PartitionMetadataFile). Raises DamagedFile, OSError."""
    fields = dict(line.split(": ", 1) for line in read_text(path).splitlines() if ": " in line)
    if fields.get("version") != "0" or "topic_id" not in fields:
        raise DamagedFile(path, "it needs the lines 'version: 0' and 'topic_id: ...'")
    try:
        return id_bytes(fields["topic_id"].strip())
    except ValueError as error:
        raise DamagedFile(path, str(error)) from None


def topic_id_text(topic_id: bytes) -> str:
    """Returns the contents of `partition.metadata`."""
    return f"version: 0\ntopic_id: {id_text(topic_id)}\n"


def read_offsets(path: Path) -> dict[PartitionName, int]:
    """Returns the offsets by partition of a checkpoint. A file that is missing has none. Raises DamagedFile, OSError."""
    offsets = {}
    for line in _checkpoint_lines(path):
        try:
            topic, index, offset = line.split(" ")
            offsets[PartitionName(topic, int(index))] = _checked(int(offset))
        except ValueError:
            raise DamagedFile(path, f"the line {line[:80]!r} is not 'topic partition offset'") from None
    return offsets


def offsets_text(offsets: Mapping[PartitionName, int]) -> str:
    """Returns the contents of a checkpoint of offsets."""
    return _checkpoint_text(f"{name.topic} {name.partition} {offset}" for name, offset in offsets.items())


class EpochStart(NamedTuple):
    """A leader epoch, and the offset at which it starts."""

    epoch: int
    offset: int


def read_epochs(path: Path) -> list[EpochStart]:
    """Returns the leader epochs of a partition; a file that is missing has none.

    Raises DamagedFile, also unless epochs and offsets are ascending, and OSError.
    """
    epochs: list[EpochStart] = []
    for line in _checkpoint_lines(path):
        try:
            epoch, offset = map(int, line.split(" "))
        except ValueError:
            raise DamagedFile(path, f"the line {line[:80]!r} is not 'epoch offset'") from None
        if (
            not -1 < epoch < 2**31
            or not -1 < offset <= MAX_OFFSET
            or (epochs and (epoch <= epochs[-1].epoch or offset < epochs[-1].offset))
        ):
            raise DamagedFile(path, f"the line {line[:80]!r} does not follow the epoch before")
        epochs.append(EpochStart(epoch, offset))
    return epochs


def epochs_text(epochs: Iterable[EpochStart]) -> str:
    """Returns the contents of `leader-epoch-checkpoint`."""
    return _checkpoint_text(f"{epoch} {offset}" for epoch, offset in epochs)


def _checkpoint_lines(path: Path) -> Iterator[str]:
    """Yields the entries of a checkpoint: the lines after the version and the number of entries."""
    try:
        lines = read_text(path).split("\n")
    except FileNotFoundError:
        return
    if lines == [""]:  # as a broker leaves it that was killed before its first checkpoint
        return
    if lines[0] != str(CHECKPOINT_VERSION):
        raise DamagedFile(path, f"it has version {lines[0][:20]!r} instead of {CHECKPOINT_VERSION}")
    entries = [line for line in lines[2:] if line]
    if len(lines) < 2 or lines[1] != str(len(entries)):
        raise DamagedFile(path, f"it has {len(entries)} entries, and its second line states another number")
    yield from entries


def _checkpoint_text(entries: Iterable[str]) -> str:
    lines = list(entries)
    return "\n".join([str(CHECKPOINT_VERSION), str(len(lines)), *lines, ""])


def _checked(offset: int) -> int:
    if not -1 < offset <= MAX_OFFSET:
        raise ValueError(offset)
    return offset


def read_text(path: Path) -> str:
    """Returns a text file. Raises DamagedFile unless it is UTF-8, and OSError."""
    try:
        return read_file(path, MAX_TEXT_BYTES).decode()
    except UnicodeDecodeError:
        raise DamagedFile(path, "it is not UTF-8") from None
