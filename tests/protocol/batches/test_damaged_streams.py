"""How far damaged streams are read. tests/differential has Apache Kafka's answers to batches with such streams."""

from __future__ import annotations

import gzip
import zlib

import cramjam
import pytest

from odradek.protocol.batches.compression import XERIAL_HEADER, Compression, InvalidCompression, TooLong, compress, decompress
from odradek.protocol.batches.damaged_streams import CHUNK, Buffer

TEXT = b"".join(b"%d, " % n for n in range(3000))
LIMIT = 1 << 20
SNAPPY_READ = 2048


def readable(codec: Compression, data: Buffer, limit: int = LIMIT) -> bytes:
    """Returns what is read before the damage."""
    with pytest.raises(InvalidCompression) as raised:
        decompress(codec, bytes(data), limit)
    assert not isinstance(raised.value, TooLong)
    return raised.value.readable


def test_gzip_successive_members_are_concatenated() -> None:
    one, other = gzip.compress(b"one" * 9), gzip.compress(TEXT)
    assert decompress(Compression.GZIP, one + other, LIMIT) == b"one" * 9 + TEXT
    assert decompress(Compression.GZIP, one + b"garbage", LIMIT) == b"one" * 9
    assert decompress(Compression.GZIP, one + b"much more garbage " * 9, LIMIT) == b"one" * 9
    assert decompress(Compression.GZIP, one + one[:17], LIMIT) == b"one" * 9  # fewer bytes than a member can have
    with pytest.raises(TooLong):
        decompress(Compression.GZIP, one + other, 1000)


def test_gzip_damaged_stream_is_read_up_to_the_damage() -> None:
    data = gzip.compress(TEXT, mtime=0)
    assert readable(Compression.GZIP, data[:-8]) == TEXT  # no trailer
    assert readable(Compression.GZIP, data[:-8] + bytes(8)) == TEXT
    cut = readable(Compression.GZIP, data[: len(data) // 2])
    assert cut and TEXT.startswith(cut)
    noise = bytes(n * n * 7 % 251 for n in range(4 * CHUNK))
    large = bytearray(gzip.compress(noise * 3, 0))
    large[-20_000:-8] = b"\xff" * 19_992
    assert len(readable(Compression.GZIP, large)) >= CHUNK
    broken = bytearray(data)
    broken[12:40] = b"\xff" * 28
    assert readable(Compression.GZIP, broken) == b""
    assert readable(Compression.GZIP, data[:5]) == b""


def test_gzip_header_fields_are_skipped_and_checked() -> None:
    deflated, trailer = gzip.compress(TEXT, mtime=0)[10:-8], gzip.compress(TEXT, mtime=0)[-8:]
    fields = {4: b"\3\0abc", 8: b"name\0", 16: b"comment\0"}
    start = b"\x1f\x8b\x08%c\0\0\0\0\0\3"
    for flag, field in fields.items():
        assert decompress(Compression.GZIP, start % (flag | 0x80) + field + deflated + trailer, LIMIT) == TEXT  # zlib refuses 0x80
        assert readable(Compression.GZIP, start % (flag | 0x80) + field[:-1].replace(b"\0", b"x")) == b""
    header = start % 0x82
    checksum = (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    assert decompress(Compression.GZIP, header + checksum + deflated + trailer, LIMIT) == TEXT
    assert readable(Compression.GZIP, header + b"xx" + deflated + trailer) == b""


def test_lz4_only_the_first_frame_is_read() -> None:
    data = compress(Compression.LZ4, TEXT)
    for behind in (data, b"\0", b"garbage", data[:20]):
        assert decompress(Compression.LZ4, data + behind, LIMIT) == TEXT
    assert decompress(Compression.LZ4, data[:-4] + b"\0\0\0\x80", LIMIT) == TEXT  # another form of the end mark
    with pytest.raises(TooLong):
        decompress(Compression.LZ4, data * 2, 1000)


def test_lz4_damaged_frame_is_read_up_to_the_block() -> None:
    noise = bytes(n * n % 251 ^ n >> 7 & 255 for n in range(200_000))
    sized = cramjam.lz4.Compressor(content_checksum=False, block_linked=False)
    sized.compress(noise)
    data = bytearray(bytes(sized.finish()))
    assert decompress(Compression.LZ4, data, LIMIT) == noise
    first = 7 + 4 + int.from_bytes(data[7:11], "little") % (1 << 31) + 4 * (data[4] >> 4 & 1)
    cut = readable(Compression.LZ4, data[: first + 100])
    assert cut and noise.startswith(cut)
    data[first + 50] ^= 255
    assert readable(Compression.LZ4, data) == cut
    assert readable(Compression.LZ4, data[:-4]) == cut
    assert readable(Compression.LZ4, data[:3]) == b""
    data[6] ^= 1  # the checksum of the header
    assert readable(Compression.LZ4, data) == b""
    whole = compress(Compression.LZ4, TEXT)
    assert readable(Compression.LZ4, whole[:-4]) == TEXT
    assert readable(Compression.LZ4, whole[:4] + bytes([whole[4] | 8]) + whole[5:]) == b""


def test_snappy_successive_streams_are_concatenated() -> None:
    data = compress(Compression.SNAPPY, TEXT)
    assert decompress(Compression.SNAPPY, data + data, LIMIT) == TEXT * 2
    assert decompress(Compression.SNAPPY, data + XERIAL_HEADER[:4] + b"anything else", LIMIT) == TEXT


def test_snappy_damaged_stream_is_read_in_parts_of_2_kib() -> None:
    noise = bytes(n * n % 251 for n in range(40_000))
    data = bytearray(compress(Compression.SNAPPY, noise))
    first = 20 + int.from_bytes(data[16:20], "big")
    whole = (32 << 10) // SNAPPY_READ * SNAPPY_READ
    assert readable(Compression.SNAPPY, data[: first + 50]) == noise[:whole]
    data[first + 4] ^= 255
    assert readable(Compression.SNAPPY, data) == noise[:whole]
    assert readable(Compression.SNAPPY, XERIAL_HEADER[:10]) == b""
    assert readable(Compression.SNAPPY, XERIAL_HEADER + b"\0\0\0\6" + b"\xff\xff\xff\xff\x0f\0") == b""  # cannot hold 4 GiB


def test_zstd_damaged_stream_is_read_up_to_the_frame() -> None:
    data = compress(Compression.ZSTD, TEXT)
    assert decompress(Compression.ZSTD, data * 2, LIMIT) == TEXT * 2
    assert decompress(Compression.ZSTD, data + data[:-1], LIMIT) == TEXT  # a second frame that is cut is not there
    assert readable(Compression.ZSTD, data + b"garbage") == TEXT
    assert readable(Compression.ZSTD, data[:-1]) == b""
    assert readable(Compression.ZSTD, data[:4]) == b""
    assert decompress(Compression.ZSTD, b"", LIMIT) == b""
    runs = compress(Compression.ZSTD, bytes(300_000))  # blocks of one byte each
    assert readable(Compression.ZSTD, runs + b"garbage") == bytes(300_000)
    with pytest.raises(TooLong):
        decompress(Compression.ZSTD, data + b"garbage", 1000)
