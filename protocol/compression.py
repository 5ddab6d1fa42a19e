"""The codecs of record batches, by the numbers of their attributes, in the framings that Kafka's clients write.

gzip needs the standard library only; the others need the package cramjam (the extra `codecs`), imported when first used.
What comes out is bounded before it is allocated, so that a bomb costs no more than the caller's limit (CVE-2023-34455).
"""

from __future__ import annotations

import zlib
from enum import IntEnum
from types import ModuleType

from .schema import ProtocolError

XERIAL_HEADER = b"\x82SNAPPY\0" + b"\0\0\0\1" + b"\0\0\0\1"
"""What snappy-java writes first: magic, version, compatible version. Then blocks, each after its int32 length."""
XERIAL_MAGIC_SIZE = 8
XERIAL_BLOCK_SIZE = 32 << 10
GZIP_FORMAT = 16 + zlib.MAX_WBITS
FIRST_GUESS, GROWTH = 64 << 10, 8
KEPT = 16 << 20
_spare: list[bytearray] = []
"""Memory to decompress into, kept up to KEPT bytes: to touch fresh pages takes a third of what lz4 does."""


class Compression(IntEnum):
    """The compression types of KIP-98 and KIP-110 (zstd)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class UnsupportedCompression(RuntimeError):
    """The codec is not installed here: nobody's bytes are wrong."""


class InvalidCompression(ProtocolError):
    """Bytes that the codec does not decode."""


class TooLong(InvalidCompression):
    """Bytes that decode to more than the limit."""


def compress(codec: Compression, data: bytes, level: int | None = None) -> bytes:
    """`level` is the codec's own, None its default; snappy has none. Raises UnsupportedCompression."""
    if codec is Compression.NONE:
        return data
    if codec is Compression.GZIP:
        return zlib.compress(data, -1 if level is None else level, GZIP_FORMAT)
    cramjam = _cramjam(codec)
    if codec is Compression.SNAPPY:
        return _compress_snappy(cramjam, data)
    if codec is Compression.LZ4:
        lz4 = cramjam.lz4.Compressor(level, content_checksum=False, block_linked=False)  # Java refuses linked blocks
        lz4.compress(data)
        return bytes(lz4.finish())
    return bytes(cramjam.zstd.compress(data, level))


def decompress(codec: Compression, data: bytes | bytearray | memoryview, limit: int) -> bytes:
    """At most `limit` bytes. Raises InvalidCompression, TooLong, UnsupportedCompression."""
    if codec is Compression.NONE:
        return bytes(data)
    if codec is Compression.GZIP:
        return _decompress_gzip(data, limit)
    cramjam = _cramjam(codec)
    try:
        if codec is Compression.SNAPPY:
            return _decompress_snappy(cramjam, memoryview(data), limit)
        return _decompress_growing(cramjam, cramjam.lz4 if codec is Compression.LZ4 else cramjam.zstd, data, limit)
    except cramjam.DecompressionError as error:
        raise InvalidCompression(f"{codec.name.lower()}: {error}") from error


def _cramjam(codec: Compression) -> ModuleType:
    try:
        import cramjam
    except ImportError as error:
        raise UnsupportedCompression(f"{codec.name.lower()} needs the package cramjam: pip install 'odradek[codecs]'") from error
    return cramjam


def _decompress_gzip(data: bytes | bytearray | memoryview, limit: int) -> bytes:
    stream = zlib.decompressobj(GZIP_FORMAT)
    try:
        out = stream.decompress(data, limit + 1)
    except zlib.error as error:
        raise InvalidCompression(f"gzip: {error}") from error
    if len(out) > limit:
        raise TooLong(f"gzip: more than {limit} bytes")
    if not stream.eof:
        raise InvalidCompression("gzip: the stream is cut")
    return out


def _compress_snappy(cramjam: ModuleType, data: bytes) -> bytes:
    out = bytearray(XERIAL_HEADER)
    for start in range(0, len(data), XERIAL_BLOCK_SIZE):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + XERIAL_BLOCK_SIZE]))
        out += len(block).to_bytes(4, "big") + block
    return bytes(out)


def _decompress_snappy(cramjam: ModuleType, data: memoryview, limit: int) -> bytes:
    """The blocks of snappy-java (Java and Python clients), or one raw block (librdkafka)."""
    if data[:XERIAL_MAGIC_SIZE] != XERIAL_HEADER[:XERIAL_MAGIC_SIZE]:
        return _decompress_block(cramjam, data, limit)
    out, position = bytearray(), len(XERIAL_HEADER)
    while position + 4 <= len(data):  # less than a length behind the last block is no block, as for snappy-java
        start = position + 4
        position = start + int.from_bytes(data[position:start], "big")
        out += _decompress_block(cramjam, data[start:position], limit - len(out))
    if position > len(data):
        raise InvalidCompression("snappy: the stream is cut")
    return bytes(out)


def _decompress_block(cramjam: ModuleType, block: memoryview, limit: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(block) > limit:
        raise TooLong(f"snappy: more than {limit} bytes left of the limit")
    return bytes(cramjam.snappy.decompress_raw(block))


def _decompress_growing(cramjam: ModuleType, module: ModuleType, data: bytes | bytearray | memoryview, limit: int) -> bytes:
    """lz4 and zstd frames need not tell their size: the output grows until the frame fits or the limit is reached."""
    size = min(max(FIRST_GUESS, GROWTH * len(data)), limit)
    while True:
        out = _memory(size)
        try:
            return bytes(memoryview(out)[: module.decompress_into(data, memoryview(out)[:size])])
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error):
                raise
        finally:
            if len(out) <= KEPT:
                _spare[:] = [out]
        if size == limit:
            raise TooLong(f"{module.__name__.rpartition('.')[2]}: more than {limit} bytes")
        size = min(size * GROWTH, limit)


def _memory(size: int) -> bytearray:
    """At least `size` bytes that nobody else writes to, even in another thread."""
    out = _spare.pop() if _spare else bytearray()
    return out if len(out) >= size else bytearray(size)
