"""Segments with messages of the formats 0 and 1, which Kafka wrote before 0.11 and with older values of message.format.version.

They are converted to record batches with the same offsets, because a log contains only these.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import ge

from ...protocol.batches.compression import Compression
from ...protocol.batches.message_sets import LegacyMessage, inner_messages, outer_messages
from ...protocol.batches.record_builder import build_batch
from ...protocol.batches.records import COMPRESSION_MASK, CREATE_TIME, LOG_APPEND_TIME, TIMESTAMP_TYPE_BIT, Record
from ...protocol.schema import ProtocolError
from ..segments import EXTENT, Segment, max_timestamp_of
from .segment_files import BATCHES, Damage, Entry, MappedSegment, Scan

MAX_RECORDS_PER_BATCH = 500
MAX_OFFSET_DELTA = 2**31 - 1
_ATTRIBUTES_POSITION = 17


def converted_segment(view: memoryview, base_offset: int) -> MappedSegment:
    """Returns a segment with the records of a file that contains messages of format 0 or 1, in memory, and the damage behind them."""
    scan = Scan(view, base_offset)
    converted = bytearray()
    extents: list[tuple[int, int]] = []
    damage = None
    try:
        for batch in _convert_messages(view, scan):
            extents.append((len(converted), len(batch)))
            converted += batch
    except Unreadable as error:
        damage = error.damage
    segment = Segment(memoryview(bytes(converted)), 0, base_offset, 0)
    for position, size in extents:
        batch = segment.view[position : position + size]
        first, _, last_offset_delta = EXTENT.unpack_from(batch)
        segment.end_offset = first
        segment.add(size, last_offset_delta, max_timestamp_of(batch))
    return MappedSegment(segment, damage or scan.damage)


class Unreadable(Exception):
    """A wrapper whose messages cannot be decompressed."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(damage.reason)
        self.damage = damage


def _convert_messages(view: memoryview, scan: Scan) -> Iterator[bytes | bytearray | memoryview]:
    """Yields the batches of a segment, and messages as batches. Raises Unreadable."""
    waiting: list[LegacyMessage] = []
    for entry in scan:
        if waiting and (entry.magic == BATCHES or _ends_batch(waiting, entry, view[entry.position + _ATTRIBUTES_POSITION])):
            yield _batch_of(waiting, Compression.NONE)
            waiting = []
        if entry.magic == BATCHES:
            yield view[entry.position : entry.position + entry.size]
            continue
        try:
            (message,) = outer_messages(view[entry.position : entry.position + entry.size], entry.size)
        except ProtocolError as error:
            if waiting:
                yield _batch_of(waiting, Compression.NONE)
            raise Unreadable(Damage(entry.position, str(error))) from None
        if message.codec:
            yield _batch_of(_unwrap(entry, message), Compression(message.codec))
        elif message.has_append_time:
            yield _batch_of([message], Compression.NONE)
        else:
            waiting.append(message)
    if waiting:
        yield _batch_of(waiting, Compression.NONE)


def _ends_batch(waiting: list[LegacyMessage], entry: Entry, attributes: int) -> bool:
    """Returns whether a message cannot follow others in one batch: it is compressed, has another kind of timestamp, or is too far away."""
    is_other = attributes & (COMPRESSION_MASK | TIMESTAMP_TYPE_BIT)
    return bool(is_other) or len(waiting) >= MAX_RECORDS_PER_BATCH or entry.last_offset - waiting[0].offset > MAX_OFFSET_DELTA


def _unwrap(entry: Entry, wrapper: LegacyMessage) -> list[LegacyMessage]:
    """Returns the messages in a wrapper with their offsets. Format 1 stores the differences from the first one (KIP-31)."""
    try:
        messages = inner_messages(wrapper)
    except ProtocolError as error:
        raise Unreadable(Damage(entry.position, str(error))) from None
    shift = wrapper.offset - messages[-1].offset if wrapper.magic else 0
    messages = [message._replace(offset=message.offset + shift) for message in messages]
    offsets = [message.offset for message in messages]
    if offsets[0] < 0 or any(map(ge, offsets, offsets[1:])) or offsets[-1] != wrapper.offset:
        raise Unreadable(Damage(entry.position, "the offsets in a compressed message are not ascending"))
    if offsets[-1] - offsets[0] > MAX_OFFSET_DELTA:
        raise Unreadable(Damage(entry.position, "the offsets in a compressed message are too far apart"))
    return messages


def _batch_of(messages: list[LegacyMessage], codec: Compression) -> bytearray:
    records = [Record(message.offset, message.timestamp, message.key, message.value, []) for message in messages]
    kind = LOG_APPEND_TIME if messages[0].has_append_time else CREATE_TIME
    return build_batch(records, base_offset=records[0].offset, compression=codec, timestamp_type=kind)
