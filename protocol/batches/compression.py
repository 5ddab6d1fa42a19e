"""Compresses and decompresses the records of batches, in the framings that Kafka's clients write and read.

gzip uses the standard library. The other codecs use the package cramjam, which is imported on first use because it may be missing in
Spark workers that received odradek as a zip file. The size of the output is limited before memory is allocated, so that a
decompression bomb takes no more than the caller's limit (CVE-2023-34455).
"""

from __future__ import annotations

import zlib
from enum import IntEnum
from types import ModuleType

from .damaged_streams import InvalidCompression, TooLong, UnsupportedCompression, is_one_lz4_frame, read_gzip, read_lz4, read_zstd

__all__ = ["Compression", "InvalidCompression", "TooLong", "UnsupportedCompression", "compress", "decompress"]

XERIAL_HEADER = b"\x82SNAPPY\0" + b"\0\0\0\1" + b"\0\0\0\1"
"""The header of snappy-java's framing: magic, version, compatible version. Blocks follow, each preceded by its int32 length."""
XERIAL_MAGIC_SIZE = 8
XERIAL_BLOCK_SIZE, SNAPPY_READ = 32 << 10, 2 << 10
SNAPPY_EXPANSION = 22  # the maximum, because three bytes encode a copy of 64 bytes
GZIP_FORMAT = 16 + zlib.MAX_WBITS
FIRST_GUESS, GROWTH = 64 << 10, 8
KEPT_BYTES = 16 << 20
_spare: list[bytearray] = []
"""A block to decompress into, kept if it has at most KEPT_BYTES, because touching new pages takes a third of the time of lz4."""


class Compression(IntEnum):
    """The compression types, as numbered in the attributes of a batch (Kafka's CompressionType; zstd is KIP-110)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: Compression, data: bytes, level: int | None = None) -> bytes:
    """Returns compressed bytes. `level` is in the codec's own scale, None for its default; snappy has no levels.

    Raises UnsupportedCompression.
    """
    if codec is Compression.NONE:
        return data
    if codec is Compression.GZIP:
        return zlib.compress(data, -1 if level is None else level, GZIP_FORMAT)
    cramjam = _cramjam(codec)
    if codec is Compression.SNAPPY:
        return _compress_snappy(cramjam, data)
    if codec is Compression.LZ4:
        lz4 = cramjam.lz4.Compressor(level, content_checksum=False, block_linked=False)  # Kafka's Lz4BlockInputStream refuses linked blocks
        lz4.compress(data)
        return bytes(lz4.finish())
    return bytes(cramjam.zstd.compress(data, level))


def decompress(codec: Compression, data: bytes | bytearray | memoryview, limit: int) -> bytes:
    """Returns decompressed bytes, at most `limit`. Raises InvalidCompression, TooLong, UnsupportedCompression."""
    if codec is Compression.NONE:
        return bytes(data)
    if codec is Compression.GZIP:
        return _decompress_gzip(data, limit)
    cramjam = _cramjam(codec)
    try:
        if codec is Compression.SNAPPY:
            return _decompress_snappy(cramjam, memoryview(data), limit)
        if codec is Compression.LZ4 and not is_one_lz4_frame(memoryview(data)):  # Kafka reads the first frame only
            return read_lz4(cramjam, memoryview(data), limit)
        return _decompress_growing(cramjam, cramjam.lz4 if codec is Compression.LZ4 else cramjam.zstd, data, limit)
    except cramjam.DecompressionError as error:
        if codec is Compression.SNAPPY:
            raise InvalidCompression(f"snappy: {error}") from error
        view = memoryview(data)
        return read_lz4(cramjam, view, limit) if codec is Compression.LZ4 else read_zstd(cramjam, view)


def _cramjam(codec: Compression) -> ModuleType:
    try:
        import cramjam
    except ImportError as error:
        raise UnsupportedCompression(f"{codec.name.lower()} needs the package cramjam: pip install cramjam") from error
    return cramjam


def _decompress_gzip(data: bytes | bytearray | memoryview, limit: int) -> bytes:
    stream = zlib.decompressobj(GZIP_FORMAT)
    try:
        out = stream.decompress(data, limit + 1)
    except zlib.error:
        return read_gzip(memoryview(data), limit)
    if len(out) > limit:
        raise TooLong(f"gzip: more than {limit} bytes")
    return out if stream.eof and not stream.unused_data else read_gzip(memoryview(data), limit)


def _compress_snappy(cramjam: ModuleType, data: bytes) -> bytes:
    out = bytearray(XERIAL_HEADER)
    for start in range(0, len(data), XERIAL_BLOCK_SIZE):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + XERIAL_BLOCK_SIZE]))
        out += len(block).to_bytes(4, "big") + block
    return bytes(out)


def _decompress_snappy(cramjam: ModuleType, data: memoryview, limit: int) -> bytes:
    """Decompresses the framing of snappy-java (Java and Python clients), or one raw block (librdkafka)."""
    if data[:XERIAL_MAGIC_SIZE] != XERIAL_HEADER[:XERIAL_MAGIC_SIZE] or len(data) < len(XERIAL_HEADER):
        return _decompress_block(cramjam, data, limit)
    out, position = bytearray(), len(XERIAL_HEADER)
    while position + 4 <= len(data):  # like snappy-java, ignore fewer bytes than a length after the last block
        start = position + 4
        if data[position:start] == XERIAL_HEADER[:4]:  # another stream follows the first, or this is the end
            if data[position:][:XERIAL_MAGIC_SIZE] != XERIAL_HEADER[:XERIAL_MAGIC_SIZE]:
                break
            position += len(XERIAL_HEADER)
            continue
        position = start + int.from_bytes(data[position:start], "big")
        if position > len(data):
            raise InvalidCompression("snappy: the stream is truncated", _read_by_kafka(out))
        try:
            out += _decompress_block(cramjam, data[start:position], limit - len(out))
        except cramjam.DecompressionError as error:
            raise InvalidCompression(f"snappy: {error}", _read_by_kafka(out)) from error
    return bytes(out)


def _read_by_kafka(out: bytearray) -> bytes:
    """Returns the bytes that Kafka reads before it detects the damage.

    Kafka reads SNAPPY_READ bytes at a time and discards a partial read.
    """
    return bytes(out[: len(out) // SNAPPY_READ * SNAPPY_READ])


def _decompress_block(cramjam: ModuleType, block: memoryview, limit: int) -> bytes:
    size = cramjam.snappy.decompress_raw_len(block)
    if size > SNAPPY_EXPANSION * len(block):
        raise cramjam.DecompressionError(f"{len(block)} bytes cannot hold {size}")
    if size > limit:
        raise TooLong(f"snappy: more than {limit} bytes left of the limit")
    return bytes(cramjam.snappy.decompress_raw(block))


def _decompress_growing(cramjam: ModuleType, module: ModuleType, data: bytes | bytearray | memoryview, limit: int) -> bytes:
    """Decompresses lz4 or zstd, whose frames may lack their size, into blocks that grow until the output fits or the limit is reached."""
    size = min(max(FIRST_GUESS, GROWTH * len(data)), limit)
    while True:
        out = _memory(size)
        try:
            return bytes(memoryview(out)[: module.decompress_into(data, memoryview(out)[:size])])
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error):
                raise
        finally:
            if len(out) <= KEPT_BYTES:
                _spare[:] = [out]
        if size == limit:
            raise TooLong(f"{module.__name__.rpartition('.')[2]}: more than {limit} bytes")
        size = min(size * GROWTH, limit)


def _memory(size: int) -> bytearray:
    """Returns at least `size` bytes. The spare block is removed from the list while it is in use, so that no other thread writes to it."""
    out = _spare.pop() if _spare else bytearray()
    return out if len(out) >= size else bytearray(size)
