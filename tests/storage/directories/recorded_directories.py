"""The log directories that `recording.py` has recorded, unpacked for a test."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from odradek.protocol.batches.records import RecordBatch
from odradek.storage.directories.log_directory import LogDirectory
from odradek.storage.directories.names import PartitionName

RECORDED = Path(__file__).parent / "recorded"
NAMES = ("kafka-4.3.1", "kafka-4.3.1-killed", "kafka-3.9.1", "kafka-2.8.2")


def unpack(name: str, folder: Path) -> Path:
    """Returns the log directory with this name, unpacked below a folder."""
    directory = folder / name
    with tarfile.open(RECORDED / f"{name}.tar.gz") as archive:
        archive.extractall(directory, filter="data")
    return directory


def seen_by_clients(name: str) -> dict[str, Any]:
    """Returns what clients of the recorded broker have seen."""
    seen: dict[str, Any] = json.loads((RECORDED / f"{name}.json").read_text())
    return seen


def records_in(directory: LogDirectory, topic: str) -> list[list[Any]]:
    """Returns the records of all partitions of a topic in the form of the recording, aborted ones included."""
    found: list[list[Any]] = []
    for name in directory.partitions:
        if name.topic == topic:
            found += partition_records(directory, name)
    return found


def partition_records(directory: LogDirectory, name: PartitionName) -> list[list[Any]]:
    log, found = directory.read_log(name), []
    for view in log.batches_from(log.start_offset):
        batch = RecordBatch(view)
        if not batch.header.is_control:
            for record in batch.records():
                key, value = record.key, record.value
                row = [name.partition, record.offset, record.timestamp, key and key.decode(), value and value.decode()]
                found.append(row)
    return [*found, [name.partition, log.start_offset, log.end_offset]]
