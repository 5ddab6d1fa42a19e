"""Describes the files of log directories without a broker: partitions and their damage, and single files entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...protocol.batches.compression import UnsupportedCompression
from ...protocol.batches.records import RecordBatch
from ...protocol.schema import Message, ProtocolError
from ...protocol.stored.control_records import read_control_record
from ...storage.directories import names
from ...storage.directories.index_files import OffsetIndex, read_offset_index, read_time_index, read_transaction_index
from ...storage.directories.log_directory import LogDirectory
from ...storage.directories.metadata_log import read_records
from ...storage.directories.names import DamagedFile, PartitionName, id_text
from ...storage.directories.old_messages import converted_segment
from ...storage.directories.producer_snapshot import read_producer_snapshot
from ...storage.directories.segment_files import BATCHES, Entry, Scan, map_file
from ...storage.directories.stored_log import read_log
from ...storage.directories.text_files import read_epochs, read_meta_properties, read_offsets, read_topic_id
from ...storage.segments import split

Row = dict[str, Any]
METADATA_SNAPSHOT = ".checkpoint"


def inspect_directory(path: Path, *, deep: bool) -> tuple[list[Row], list[str]]:
    """Returns a row for each partition of a log directory, and the damage that was found. Raises DamagedFile, OSError.

    With `deep`, all batches are read: their CRCs, and the offsets and positions in the indexes. Otherwise only as much is read as Apache
    Kafka reads when it starts.
    """
    directory = LogDirectory(path)
    rows, problems = [], []
    if directory.is_in_use:
        problems.append(f"{path}: a running broker uses the directory, which is shown as it is now")
    for name, folder in directory.partitions.items():
        log = directory.read_log(name)
        found = [str(damage) for damage in log.damages]
        if deep:
            found = _all_damage(folder)
        rows.append(
            {
                "topic": name.topic,
                "partition": name.partition,
                "start_offset": log.start_offset,
                "end_offset": log.end_offset,
                "high_watermark": directory.high_watermarks.get(name),
                "segments": len(names.offsets_in(folder, names.LOG)),
                "bytes": sum(file.stat().st_size for file in folder.glob("*" + names.LOG)),
                "damage": len(found),
            }
        )
        problems += found
    return rows, problems


def inspect_partition(folder: Path, *, deep: bool) -> tuple[list[Row], list[str]]:
    """Returns a row for each segment of a partition's folder, and its damage. Raises DamagedFile, OSError."""
    bases = names.offsets_in(folder, names.LOG)
    rows = [{"segment": base, "bytes": (folder / names.offset_name(base, names.LOG)).stat().st_size} for base in bases]
    found = _all_damage(folder) if deep else [str(damage) for damage in read_log(folder, None, None).damages]
    return rows, found


def _all_damage(folder: Path) -> list[str]:
    """Returns the damage in all segments of a partition and in their indexes."""
    found = []
    for base in names.offsets_in(folder, names.LOG):
        path = folder / names.offset_name(base, names.LOG)
        scan = Scan(map_file(path), base)
        positions = {entry.position: entry for entry in scan}
        if scan.damage is not None:
            found.append(f"{path} is invalid at byte offset {scan.damage.position}: {scan.damage.reason}; Kafka truncates it there")
            continue  # and builds its indexes again
        index = path.with_suffix(names.INDEX)
        if index.exists():
            found += [f"{index}: {problem}" for problem in _index_problems(read_offset_index(index, base), positions)]
        newest = max((entry.max_timestamp for entry in positions.values()), default=-1)
        times = path.with_suffix(names.TIME_INDEX)
        if times.exists() and any(timestamp > newest for timestamp in read_time_index(times, base).timestamps):
            found.append(f"{times}: a timestamp is later than {newest}, the latest one of the segment")
    return found


def _index_problems(index: OffsetIndex, batches: Mapping[int, Entry]) -> Iterator[str]:
    for offset, position in zip(*index, strict=True):
        batch = batches.get(position)
        if batch is None or not batch.base_offset <= offset <= batch.last_offset:
            yield f"no batch with offset {offset} is at position {position}"


def inspect_file(path: Path) -> Iterator[Row]:
    """Yields a row for each entry of a file. Raises ValueError for a file of another name, DamagedFile and OSError."""
    read = _FILES.get(path.name) or _FILES.get(path.suffix)
    if read is None:
        raise ValueError(f"{path} is no file of a log directory; give a directory, or a file such as {names.offset_name(0, names.LOG)}")
    return read(path)


def _segment(path: Path) -> Iterator[Row]:
    """Yields the records of a segment, and the damage behind them."""
    if path.parent.name == names.METADATA_FOLDER:
        yield from _metadata(path)
        return
    base, view = names.offset_of(path.name, names.LOG) or 0, map_file(path)
    scan = Scan(view, base)
    for entry in scan:
        if entry.magic != BATCHES:
            segment, damage = converted_segment(view, base)
            for batch in split(segment.view):
                yield from _records(0, batch)
            scan.damage = damage
            break
        yield from _records(entry.position, view[entry.position : entry.position + entry.size])
    if scan.damage is not None:
        yield {"position": scan.damage.position, "damage": scan.damage.reason}


def _records(position: int, view: memoryview) -> Iterator[Row]:
    batch = RecordBatch(view)
    header = batch.header
    try:
        for record in batch.records():
            row: Row = {"position": position, "offset": record.offset, "timestamp": record.timestamp}
            row["leader_epoch"] = header.partition_leader_epoch
            if header.producer_id >= 0:
                row |= {"producer_id": header.producer_id, "producer_epoch": header.producer_epoch}
                row["base_sequence"] = header.base_sequence
            if header.is_transactional:
                row["transactional"] = True
            control = read_control_record(record.key, record.value) if header.is_control else None
            if control is not None:
                yield row | {"control": control.kind.name, **plain_message(control.message)}
            else:
                yield row | {"key": record.key, "value": record.value} | ({"headers": record.headers} if record.headers else {})
    except (ProtocolError, UnsupportedCompression) as error:
        yield {"position": position, "offset": header.base_offset, "damage": str(error)}


def plain_message(message: Message) -> Row:
    """Returns the fields of a message as plain values, ids of 16 bytes as text."""
    return {name: _plain(value) for name, value in vars(message).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return plain_message(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return id_text(value) if isinstance(value, bytes) and len(value) == names.UUID_BYTES else value


def _metadata(path: Path) -> Iterator[Row]:
    base = names.offset_of(path.name, names.LOG) or 0
    for offset, message in read_records(path, base):
        name = "unknown" if message is None else type(message).__name__.removesuffix("Record")
        yield {"offset": offset, "type": name, **({} if message is None else plain_message(message))}


def _offsets(path: Path) -> Iterator[Row]:
    return ({"topic": name.topic, "partition": name.partition, "offset": offset} for name, offset in read_offsets(path).items())


def _rows_of(rows: Sequence[Any]) -> Iterator[Row]:
    return (row._asdict() for row in rows)


def _offset_index(path: Path) -> Iterator[Row]:
    index = read_offset_index(path, names.offset_of(path.name, names.INDEX) or 0)
    return ({"offset": offset, "position": position} for offset, position in zip(*index, strict=True))


def _time_index(path: Path) -> Iterator[Row]:
    index = read_time_index(path, names.offset_of(path.name, names.TIME_INDEX) or 0)
    return ({"timestamp": timestamp, "offset": offset} for timestamp, offset in zip(*index, strict=True))


def _meta(path: Path) -> Iterator[Row]:
    meta = read_meta_properties(path)
    yield meta._asdict() | {"directory_id": meta.directory_id and id_text(meta.directory_id)}


_FILES: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    names.LOG: _segment,
    names.INDEX: _offset_index,
    names.TIME_INDEX: _time_index,
    names.TRANSACTION_INDEX: lambda path: _rows_of(read_transaction_index(path)),
    names.PRODUCERS: lambda path: _rows_of(read_producer_snapshot(path)),
    names.EPOCHS: lambda path: _rows_of(read_epochs(path)),
    names.PARTITION_METADATA: lambda path: iter([{"topic_id": id_text(read_topic_id(path))}]),
    names.META_PROPERTIES: _meta,
    names.RECOVERY_POINTS: _offsets,
    names.HIGH_WATERMARKS: _offsets,
    names.START_OFFSETS: _offsets,
    names.CLEANER_OFFSETS: _offsets,
    METADATA_SNAPSHOT: _metadata,
}
"""The readers by the name or the suffix of a file."""


def is_partition(folder: Path) -> bool:
    """Returns whether a folder is that of a partition."""
    return PartitionName.parse(folder.name) is not None and not (folder / names.META_PROPERTIES).exists()


__all__ = ["DamagedFile", "Row", "inspect_directory", "inspect_file", "inspect_partition", "is_partition"]
