"""Compressed bytes that are damaged, read as far as Java's streams read them.

Apache Kafka reads the records of a batch while it decompresses them, so a record that is wrong is found before the damage behind it;
and what stands behind the end of a stream may go unread. The codecs themselves only say that something is wrong.
"""

from __future__ import annotations

import zlib
from types import ModuleType

from .schema import ProtocolError

CHUNK, READ = 8 << 10, 16 << 10
"""The bytes that java.util.zip inflates at a time, and those that Kafka asks it for."""
TRAILER_SIZE = 8
SHORTEST_MEMBER_BEHIND = 18
"""With no more bytes behind its trailer a gzip stream is at its end."""
EXTRA, NAME, COMMENT, HEADER_CRC = 4, 8, 16, 2
UNCOMPRESSED_BIT = 1 << 31
CONTENT_SUM, CONTENT_SIZE, BLOCK_SUMS = 0x04, 0x08, 0x10
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
RLE_BLOCK = 1

Buffer = bytes | bytearray | memoryview


class UnsupportedCompression(RuntimeError):
    """The codec is not installed here: nobody's bytes are wrong."""


class InvalidCompression(ProtocolError):
    """Bytes that the codec does not decode.

    `readable` is what Java's streams give before they fail.
    """

    def __init__(self, text: str, readable: bytes = b"") -> None:
        super().__init__(text)
        self.readable = readable


class TooLong(InvalidCompression):
    """Bytes that decode to more than the limit."""


def read_gzip(data: memoryview, limit: int) -> bytes:
    """The members of a stream one behind another (java.util.zip.GZIPInputStream). Raises InvalidCompression, TooLong."""
    out = bytearray()
    position = _behind_gzip_header(data, 0)
    if position is None:
        raise InvalidCompression("gzip: not a header")
    while position is not None:
        begun = len(out)
        position = _inflate(data, position, out, limit)
        trailer = data[position : position + TRAILER_SIZE]
        if len(trailer) < TRAILER_SIZE:
            raise InvalidCompression("gzip: the trailer is cut", bytes(out))
        sums = zlib.crc32(memoryview(out)[begun:]).to_bytes(4, "little") + (len(out) - begun & 0xFFFFFFFF).to_bytes(4, "little")
        if trailer != sums:
            raise InvalidCompression("gzip: the trailer is wrong", bytes(out))
        position += TRAILER_SIZE
        position = _behind_gzip_header(data, position) if len(data) - position > SHORTEST_MEMBER_BEHIND else None
    return bytes(out)


def _inflate(data: memoryview, position: int, out: bytearray, limit: int) -> int:
    """The position behind one deflate stream, whose bytes are added to `out`."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    while not stream.eof:
        chunk = stream.unconsumed_tail or bytes(data[position : position + CHUNK])
        if not chunk:
            raise InvalidCompression("gzip: the stream is cut", bytes(out))
        position += 0 if stream.unconsumed_tail else len(chunk)
        try:
            out += stream.decompress(chunk, READ)
        except zlib.error as error:
            raise InvalidCompression(f"gzip: {error}", bytes(out)) from error
        if len(out) > limit:
            raise TooLong(f"gzip: more than {limit} bytes")
    return position - len(stream.unused_data)


def _behind_gzip_header(data: memoryview, start: int) -> int | None:
    """The position behind the header at `start`; None if there is none."""
    fixed = bytes(data[start : start + 10])
    if len(fixed) < 10 or fixed[:3] != b"\x1f\x8b\x08":
        return None
    flags, position = fixed[3], start + 10
    if flags & EXTRA:
        position += 2 + int.from_bytes(data[position : position + 2], "little")
    for flag in (NAME, COMMENT):
        if flags & flag:
            position = bytes(data).find(0, position) + 1 or len(data) + 1
    if flags & HEADER_CRC:
        position += 2
        if bytes(data[position - 2 : position]) != (zlib.crc32(data[start : position - 2]) & 0xFFFF).to_bytes(2, "little"):
            return None
    return position if position <= len(data) else None


def is_one_lz4_frame(data: memoryview) -> bool:
    """Whether nothing stands behind the first frame, going by the sizes of its blocks."""
    flags = data[4] if len(data) > 4 else 0
    position, sum_size = 15 if flags & CONTENT_SIZE else 7, 4 if flags & BLOCK_SUMS else 0
    while length := int.from_bytes(data[position : position + 4], "little") & ~UNCOMPRESSED_BIT:
        position += 4 + length + sum_size
    return position + 4 + (4 if flags & CONTENT_SUM else 0) >= len(data)


def read_lz4(cramjam: ModuleType, data: memoryview, limit: int) -> bytes:
    """The blocks of one frame; its checksum is not looked at (Kafka's Lz4BlockInputStream). Raises InvalidCompression, TooLong."""
    flags = data[4] if len(data) > 4 else 0
    header, sum_size = data[: 15 if flags & CONTENT_SIZE else 7], 4 if flags & BLOCK_SUMS else 0
    _unpack_lz4(cramjam, header, b"", b"")
    out, position = bytearray(), len(header)
    while len(size := data[position : position + 4]) == 4:
        length = int.from_bytes(size, "little") & ~UNCOMPRESSED_BIT
        if not length:
            return bytes(out)
        following = position + 4 + length + sum_size
        if following > len(data):
            break
        out += _unpack_lz4(cramjam, header, data[position:following], out)
        if len(out) > limit:
            raise TooLong(f"lz4: more than {limit} bytes")
        position = following
    raise InvalidCompression("lz4: the frame is cut", bytes(out))


def _unpack_lz4(cramjam: ModuleType, header: memoryview, block: Buffer, readable: Buffer) -> bytes:
    """What a frame of one block holds, or of none."""
    try:
        return bytes(cramjam.lz4.decompress(bytes(header) + bytes(block) + bytes(4)))
    except cramjam.DecompressionError as error:
        raise InvalidCompression(f"lz4: {error}", bytes(readable)) from error


def read_zstd(cramjam: ModuleType, data: memoryview) -> bytes:
    """The frames one behind another, which are read whole or not at all. Raises InvalidCompression.

    A frame behind another that is cut is not there, as for zstd-jni. The codec has failed before it came to the caller's limit.
    """
    out, position = bytearray(), 0
    while position < len(data):
        following = _behind_zstd_frame(data, position)
        if position and following > len(data) and data[position : position + 4] == ZSTD_MAGIC:
            break
        try:
            out += cramjam.zstd.decompress(bytes(data[position:following]))
        except cramjam.DecompressionError as error:
            raise InvalidCompression(f"zstd: {error}", bytes(out)) from error
        position = following
    return bytes(out)


def _behind_zstd_frame(data: memoryview, start: int) -> int:
    """The position behind the frame at `start`, going by the sizes of its blocks (RFC 8878, 3.1.1)."""
    flags = data[start + 4] if len(data) > start + 4 else 0
    is_single, size_flag = flags & 0x20, flags >> 6
    position = start + 5 + (not is_single) + (0, 1, 2, 4)[flags & 3] + (bool(is_single), 2, 4, 8)[size_flag]
    last = 0
    while not last and position < len(data):
        block = int.from_bytes(data[position : position + 3], "little")
        last = block & 1
        position += 3 + (1 if block >> 1 & 3 == RLE_BLOCK else block >> 3)
    return position + 4 * (flags >> 2 & 1)
