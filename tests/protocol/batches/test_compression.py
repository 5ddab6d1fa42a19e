"""The codecs: compatibility with real clients, damaged data and decompression bombs."""

from __future__ import annotations

import gzip
import resource
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import cramjam
import pytest
from aiokafka import codec as aiokafka_codec
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.batches import compression
from odradek.protocol.batches.compression import Compression, InvalidCompression, UnsupportedCompression, compress, decompress

CODECS = [codec for codec in Compression if codec is not Compression.NONE]
TEXT = b"the same again, " * 5000
FOREIGN = {
    Compression.GZIP: (aiokafka_codec.gzip_encode, aiokafka_codec.gzip_decode),
    Compression.SNAPPY: (aiokafka_codec.snappy_encode, aiokafka_codec.snappy_decode),
    Compression.LZ4: (aiokafka_codec.lz4_encode, aiokafka_codec.lz4_decode),
    Compression.ZSTD: (aiokafka_codec.zstd_encode, aiokafka_codec.zstd_decode),
}
FEW = settings(max_examples=5 * settings().max_examples)


@given(st.sampled_from(Compression), st.binary(max_size=300).map(lambda data: data * 400) | st.binary())
@FEW
def test_compress_random_data_round_trips(codec: Compression, data: bytes) -> None:
    assert decompress(codec, compress(codec, data), len(data)) == data


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("data", [b"x", TEXT], ids=len)
def test_compression_is_compatible_with_aiokafka(codec: Compression, data: bytes) -> None:
    encode, decode = FOREIGN[codec]
    assert bytes(decode(compress(codec, data))) == data
    assert decompress(codec, bytes(encode(data)), len(data)) == data


def test_decompress_snappy_raw_block_of_librdkafka() -> None:
    assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(TEXT)), len(TEXT)) == TEXT


def test_compress_snappy_writes_blocks_of_snappy_java() -> None:
    written = compress(Compression.SNAPPY, bytes(70_000))
    assert written[:16] == b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
    sizes, position = [], 16
    while position < len(written):
        end = position + 4 + int.from_bytes(written[position : position + 4], "big")
        sizes.append(len(bytes(cramjam.snappy.decompress_raw(written[position + 4 : end]))))
        position = end
    assert sizes == [32768, 32768, 4464]


def test_compress_lz4_writes_independent_blocks() -> None:
    """Kafka's Lz4BlockInputStream requires the bits for version 01 and independent blocks."""
    written = compress(Compression.LZ4, TEXT)
    assert written[:4] == b"\x04\x22\x4d\x18"
    assert written[4] & 0b1110_0000 == 0b0110_0000


@pytest.mark.parametrize("codec", CODECS)
def test_decompress_cut_stream_raises(codec: Compression) -> None:
    data = compress(codec, b"a cut stream" * 3000)
    # Complete streams: no block, or the first of two, followed by fewer bytes than a length, which are ignored.
    ends = (16, 20 + int.from_bytes(data[16:20], "big"))
    whole = {end + n for end in ends for n in range(4)} if codec is Compression.SNAPPY else {0} if codec is Compression.ZSTD else set()
    for end in set(range(len(data))) - whole:
        with pytest.raises(InvalidCompression):
            decompress(codec, data[:end], 1 << 20)


@given(st.sampled_from(CODECS), st.integers(0, 1 << 30), st.integers(0, 255))
@FEW
def test_decompress_changed_byte_raises_only_invalid(codec: Compression, position: int, value: int) -> None:
    data = bytearray(compress(codec, TEXT))
    data[position % len(data)] = value
    with suppress(InvalidCompression):
        assert len(decompress(codec, data, 1 << 17)) <= 1 << 17


@given(st.sampled_from(CODECS), st.binary(max_size=100))
@FEW
def test_decompress_random_bytes_raise_only_invalid(codec: Compression, data: bytes) -> None:
    with suppress(InvalidCompression):
        decompress(codec, data, 1 << 17)


@pytest.mark.parametrize("codec", CODECS)
def test_decompress_limit_is_exact(codec: Compression) -> None:
    data = compress(codec, bytes(200_000))
    assert len(decompress(codec, data, 200_000)) == 200_000
    with pytest.raises(InvalidCompression):
        decompress(codec, data, 199_999)


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Limits the address space to 32 MiB more than now, so that allocating the contents of a bomb fails."""
    if sys.platform != "linux":
        pytest.skip("reads /proc")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (32 << 20), limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


BOMB_SIZE, BOMB_LIMIT = 128 << 20, 1 << 20
BOMBS = {
    "gzip": (Compression.GZIP, gzip.compress(bytes(BOMB_SIZE), 1)),
    "raw snappy": (Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(bytes(BOMB_SIZE)))),
    "snappy blocks": (
        Compression.SNAPPY,
        compress(Compression.SNAPPY, bytes(32 << 10))[:16] + compress(Compression.SNAPPY, bytes(32 << 10))[16:] * 4096,
    ),
    "lz4": (Compression.LZ4, compress(Compression.LZ4, bytes(BOMB_SIZE))),
    "zstd": (Compression.ZSTD, compress(Compression.ZSTD, bytes(BOMB_SIZE))),
}


@pytest.mark.parametrize("name", BOMBS)
def test_decompress_bomb_allocates_no_more_than_the_limit(name: str, little_memory: None) -> None:
    """CVE-2023-34455."""
    codec, bomb = BOMBS[name]
    with pytest.raises(InvalidCompression):
        decompress(codec, bomb, BOMB_LIMIT)


@pytest.mark.parametrize("codec", [Compression.LZ4, Compression.ZSTD])
def test_decompress_keeps_only_small_spare_blocks(codec: Compression, monkeypatch: pytest.MonkeyPatch) -> None:
    spare: list[bytearray] = []
    monkeypatch.setattr(compression, "_spare", spare)
    monkeypatch.setattr(compression, "KEPT_BYTES", compression.FIRST_GUESS)
    for data, kept in ((b"x", 1), (TEXT * 50, 0), (b"y", 1)):
        assert decompress(codec, compress(codec, data), 64 << 20) == data
        assert len(spare) == kept


def test_decompress_snappy_wrong_length_raises() -> None:
    block = bytes(cramjam.snappy.compress_raw(bytes(1000)))
    assert block[:2] == b"\xe8\x07"
    for length in (b"\xe7\x07", b"\xe9\x07", b"\xff\xff\xff\xff\x0f"):
        with pytest.raises(InvalidCompression):
            decompress(Compression.SNAPPY, length + block[2:], 1 << 20)


def test_gzip_without_cramjam_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cramjam", None)
    assert zlib.decompress(compress(Compression.GZIP, TEXT), 31) == TEXT
    assert decompress(Compression.GZIP, gzip.compress(TEXT), len(TEXT)) == TEXT
    assert decompress(Compression.NONE, compress(Compression.NONE, TEXT), 0) == TEXT


@pytest.mark.parametrize("codec", [Compression.SNAPPY, Compression.LZ4, Compression.ZSTD])
def test_codec_without_cramjam_raises_with_instruction(codec: Compression, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cramjam", None)
    with pytest.raises(UnsupportedCompression, match="pip install cramjam"):
        compress(codec, TEXT)
    with pytest.raises(UnsupportedCompression, match=codec.name.lower()):
        decompress(codec, b"", 0)
