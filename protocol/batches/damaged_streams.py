"""Reads damaged compressed bytes as far as the streams of Kafka's Java code read them.

Kafka parses the records of a batch while it decompresses them. So it reports a malformed record that precedes the damage, and it
does not notice some damage after the last record. The codecs of `compression.py` decompress all or nothing. When one of them fails,
the functions of this module walk through the framing (gzip members, lz4 blocks, zstd frames) and collect the output up to the damage.
"""

from __future__ import annotations

import zlib
from types import ModuleType

from ..schema import ProtocolError

CHUNK, READ = 8 << 10, 16 << 10
"""The number of bytes that java.util.zip reads at a time, and the number that Kafka reads from it at a time."""
TRAILER_SIZE = 8
SHORTEST_MEMBER = 18
"""After a trailer, java.util.zip looks for another gzip member only if more than these bytes follow."""
EXTRA, NAME, COMMENT, HEADER_CRC = 4, 8, 16, 2
UNCOMPRESSED_BIT = 1 << 31
CONTENT_SUM, CONTENT_SIZE, BLOCK_SUMS = 0x04, 0x08, 0x10
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
RLE_BLOCK = 1

Buffer = bytes | bytearray | memoryview


class UnsupportedCompression(RuntimeError):
    """The package for a codec is not installed."""


class InvalidCompression(ProtocolError):
    """Bytes that a codec cannot decompress. `readable` is the output of Java's streams before they fail."""

    def __init__(self, text: str, readable: bytes = b"") -> None:
        super().__init__(text)
        self.readable = readable


class TooLong(InvalidCompression):
    """Bytes that decompress to more than the limit."""


def read_gzip(data: memoryview, limit: int) -> bytes:
    """Returns the contents of all gzip members, as java.util.zip.GZIPInputStream reads them. Raises InvalidCompression, TooLong."""
    out = bytearray()
    position = _after_gzip_header(data, 0)
    if position is None:
        raise InvalidCompression("gzip: the header is invalid")
    while position is not None:
        start = len(out)
        position = _inflate(data, position, out, limit)
        trailer = data[position : position + TRAILER_SIZE]
        if len(trailer) < TRAILER_SIZE:
            raise InvalidCompression("gzip: the trailer is truncated", bytes(out))
        sums = zlib.crc32(memoryview(out)[start:]).to_bytes(4, "little") + (len(out) - start & 0xFFFFFFFF).to_bytes(4, "little")
        if trailer != sums:
            raise InvalidCompression("gzip: the trailer is wrong", bytes(out))
        position += TRAILER_SIZE
        position = _after_gzip_header(data, position) if len(data) - position > SHORTEST_MEMBER else None
    return bytes(out)


def _inflate(data: memoryview, position: int, out: bytearray, limit: int) -> int:
    """Adds the contents of one deflate stream to `out` and returns the position after it. Raises InvalidCompression, TooLong."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    while not stream.eof:
        chunk = stream.unconsumed_tail or bytes(data[position : position + CHUNK])
        if not chunk:
            raise InvalidCompression("gzip: the stream is truncated", bytes(out))
        position += 0 if stream.unconsumed_tail else len(chunk)
        try:
            out += stream.decompress(chunk, READ)
        except zlib.error as error:
            raise InvalidCompression(f"gzip: {error}", bytes(out)) from error
        if len(out) > limit:
            raise TooLong(f"gzip: more than {limit} bytes")
    return position - len(stream.unused_data)


def _after_gzip_header(data: memoryview, start: int) -> int | None:
    """Returns the position after the gzip header at `start`, None if there is no valid one."""
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
    """Returns whether no bytes follow the first lz4 frame, according to the sizes of its blocks."""
    flags = data[4] if len(data) > 4 else 0
    position, sum_size = 15 if flags & CONTENT_SIZE else 7, 4 if flags & BLOCK_SUMS else 0
    while length := int.from_bytes(data[position : position + 4], "little") & ~UNCOMPRESSED_BIT:
        position += 4 + length + sum_size
    return position + 4 + (4 if flags & CONTENT_SUM else 0) >= len(data)


def read_lz4(cramjam: ModuleType, data: memoryview, limit: int) -> bytes:
    """Returns the contents of the first frame (Kafka's Lz4BlockInputStream, which ignores the frame's checksum).

    Raises InvalidCompression, TooLong.
    """
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
    raise InvalidCompression("lz4: the frame is truncated", bytes(out))


def _unpack_lz4(cramjam: ModuleType, header: memoryview, block: Buffer, readable: Buffer) -> bytes:
    """Decompresses a frame that is made of `header` and one block or none. `readable` is the output so far, for the error."""
    try:
        return bytes(cramjam.lz4.decompress(bytes(header) + bytes(block) + bytes(4)))
    except cramjam.DecompressionError as error:
        raise InvalidCompression(f"lz4: {error}", bytes(readable)) from error


def read_zstd(cramjam: ModuleType, data: memoryview) -> bytes:
    """Returns the contents of all frames, each of which is read as a whole. Raises InvalidCompression.

    An incomplete frame after another is ignored, as in zstd-jni. The output is not limited, because the codec has already failed below the
    limit.
    """
    out, position = bytearray(), 0
    while position < len(data):
        following = _after_zstd_frame(data, position)
        if position and following > len(data) and data[position : position + 4] == ZSTD_MAGIC:
            break
        try:
            out += cramjam.zstd.decompress(bytes(data[position:following]))
        except cramjam.DecompressionError as error:
            raise InvalidCompression(f"zstd: {error}", bytes(out)) from error
        position = following
    return bytes(out)


def _after_zstd_frame(data: memoryview, start: int) -> int:
    """Returns the position after the frame at `start`, according to the sizes of its blocks (RFC 8878, 3.1.1)."""
    flags = data[start + 4] if len(data) > start + 4 else 0
    is_single, size_flag = flags & 0x20, flags >> 6
    position = start + 5 + (not is_single) + (0, 1, 2, 4)[flags & 3] + (bool(is_single), 2, 4, 8)[size_flag]
    last = 0
    while not last and position < len(data):
        block = int.from_bytes(data[position : position + 3], "little")
        last = block & 1
        position += 3 + (1 if block >> 1 & 3 == RLE_BLOCK else block >> 3)
    return position + 4 * (flags >> 2 & 1)
