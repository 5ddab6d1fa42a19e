"""The file in which the state of a cluster is saved. docs/state-file.md describes its format.

    magic      8 bytes: ODRADEK and a line feed
    version    4 bytes: the version of the format
    sizes      8 bytes each: of the header and of the data
    header     the state as JSON; bytes and segments are objects with one member, "bytes" or "segment"
    data       the record batches of all segments
    checksum   32 bytes: SHA-256 of everything before

All numbers are big-endian. The checksum is compared before the header is decoded, and decoding creates nothing but plain values.
`loading.py` restricts the settings of a file from an unknown source.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64decode, b64encode
from pathlib import Path
from random import Random
from struct import Struct
from typing import Any, BinaryIO

from ...protocol.regular_files import open_to_read, replacing
from ...storage.blocks import KEEPS_NOTHING
from ...storage.segments import Segment, read_segment
from ..scheduling.timers import Timers
from ..scheduling.turns import Turns
from ..settings.cluster_config import ClusterConfig, find_release
from .cluster import State, nodes_of, read_cluster, users_of

MAGIC = b"ODRADEK\n"
VERSION = 2
_HEAD = Struct(">8sIQQ")
CHECKSUM_BYTES = 32
_CHUNK_BYTES = 1024 * 1024


class InvalidStateFile(ValueError):
    """A file is not a saved state, is damaged, or was written by a newer version."""


def save(state: State, path: Path) -> int:
    """Writes a state to a file that only its owner may read, because it contains secrets. Returns its size.

    It replaces an existing file only when it is complete. Raises OSError.
    """
    with replacing(path, 0o600) as file:
        _write(state, file)
        return file.tell()


def _write(state: State, file: BinaryIO) -> None:
    blocks: list[memoryview] = []
    position = 0

    def encode(value: object) -> dict[str, object]:
        nonlocal position
        if isinstance(value, bytes):
            return {"bytes": b64encode(value).decode()}
        if not isinstance(value, Segment):
            raise TypeError(f"{value!r} is not a plain value")
        block = value.view[value.start : value.end]
        blocks.append(block)
        position += len(block)
        return {"segment": [position - len(block), len(block), value.base_offset, value.end_offset, value.log_start + value.start]}

    header = json.dumps(state, default=encode, separators=(",", ":")).encode()
    checksum = hashlib.sha256()
    parts: list[bytes | memoryview] = [_HEAD.pack(MAGIC, VERSION, len(header), position), header, *blocks]
    for part in parts:
        checksum.update(part)
        file.write(part)
    file.write(checksum.digest())


def load(path: Path) -> State:
    """Returns the state in a file. Raises InvalidStateFile with a text that names the file, or OSError."""
    try:
        with open_to_read(path) as file:
            return _read(file, os.fstat(file.fileno()).st_size)
    except InvalidStateFile as error:
        raise InvalidStateFile(f"cannot load {path}: {error}") from None


def _read(file: BinaryIO, file_size: int) -> State:
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(MAGIC):
        raise InvalidStateFile("it is not a saved state of odradek")
    _, version, header_size, data_size = _HEAD.unpack(head)
    if version != VERSION:
        raise InvalidStateFile(f"it has version {version} of the format, and this version of odradek reads version {VERSION}")
    expected = _HEAD.size + header_size + data_size + CHECKSUM_BYTES
    if file_size != expected:
        raise InvalidStateFile(f"it has {file_size} bytes instead of {expected}; it was truncated or changed")
    header, data = file.read(header_size), KEEPS_NOTHING.take(max(1, data_size))[:data_size]
    checksum = hashlib.sha256(head + header)
    for position in range(0, data_size, _CHUNK_BYTES):
        chunk = data[position : position + _CHUNK_BYTES]
        if file.readinto(chunk) != len(chunk):  # type: ignore[attr-defined]
            raise InvalidStateFile("it was truncated while it was read")
        checksum.update(chunk)
    if file.read() != checksum.digest():
        raise InvalidStateFile("its checksum is wrong; it is damaged")
    return _decode_state(header, data.toreadonly())


def _decode_state(header: bytes, data: memoryview) -> State:
    """Returns the state in a header. Raises InvalidStateFile for a header that `save` does not write, even if its checksum is right."""

    def decode(value: dict[str, Any]) -> Any:
        if value.keys() == {"bytes"}:
            return b64decode(value["bytes"], validate=True)
        if value.keys() == {"segment"}:
            position, size, *offsets = value["segment"]
            if not 0 <= position <= position + size <= len(data):
                raise ValueError(f"there are no {size} bytes at {position}")
            return read_segment(data[position : position + size], *offsets)
        return value

    try:
        state: State = json.loads(header, object_hook=decode)
        # Building a cluster from the state is the only complete check of it.
        read_cluster(
            state,
            ClusterConfig("", nodes_of(state), users=users_of(state), release=find_release(state["as_version"])),
            Turns(Timers(0), lambda: 0.0),
            Random(),
            None,
        )
    except Exception as error:  # noqa: BLE001  (the file may contain anything)
        raise InvalidStateFile(f"its header is invalid: {type(error).__name__}: {error}") from None
    return state
