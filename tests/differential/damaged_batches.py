"""Generated batches, damaged at each depth: in records, compressed bytes, the header, or on the wire. The seed determines all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from odradek.protocol.batches.compression import Compression, compress
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import HEADER, PREFIX_SIZE, Record, write_crc
from odradek.protocol.messages.produce import PRODUCE

from .families.batches import FIELDS, TOPICS

VERSIONS = [*range(PRODUCE.versions.first, PRODUCE.versions.last + 1), 9, 13]
TIMES = [-1, 0, 1000, 1000, 1063, 10_000, 500_000_000_000, 1_000_000_000_000, 4_000_000_000_000]
TEXTS = [None, b"", b"k", b"v" * 63, b"v" * 64, bytes(130), b"\xff\x01", b"key"]
HEADERS: list[list[tuple[str, bytes | None]]] = [[], [], [], [("h", b"1")], [("", None)], [("ü", b""), ("name" * 20, b"v" * 70)]]
EDGES = [-(1 << 63), -(1 << 31), -(1 << 15), -2, -1, 0, 1, 2, 3, 7, 127, 128, 255, (1 << 15) - 1, (1 << 31) - 1, (1 << 63) - 1]
VARINTS = [
    b"\x00",
    b"\x01",
    b"\x02",
    b"\x7f",
    b"\x80\x00",
    b"\x80\x01",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x7f",
    b"\xfe\xff\xff\xff\x0f",
]
VARINTS += [b"\xff" * 9 + b"\x01", b"\xff" * 10, b"\x80" * 9 + b"\x02", b"\x80" * 10 + b"\x01"]


class Sent(NamedTuple):
    """A batch, the kind of topic that it goes to, and the version of the request."""

    kind: str
    version: int
    batch: bytes


def batches(seed: int, count: int) -> Iterator[Sent]:
    """Returns batches that depend only on the seed."""
    random = Random(seed)
    for _ in range(count):
        kind = random.choice([*TOPICS, "plain", "plain"])
        yield Sent(kind, random.choice(VERSIONS), damaged(random))


def damaged(random: Random) -> bytes:
    """Returns a batch that is damaged with a probability of 90 %. Most damaged batches have a correct CRC nevertheless."""
    depth = random.choice(["", "records", "records", "compressed", "compressed", "header", "header", "wire", "several", "several"])
    codec = random.choice([*Compression, Compression.NONE])
    plain = build_batch(records(random), timestamp_type=int(random.random() < 0.1), **producer(random))
    payload = bytearray(plain[HEADER.size :])
    if depth in ("records", "several"):
        change(random, payload)
    packed = bytearray(compress(codec, bytes(payload)))
    if depth in ("compressed", "several"):
        change(random, packed)
    made = plain[: HEADER.size] + packed
    made[8:12] = (len(made) - PREFIX_SIZE).to_bytes(4, "big")
    made[22] |= codec
    if depth == "header" or (depth == "several" and random.random() < 0.5):
        change_header(random, made)
    write_crc(made)
    if depth == "wire" or (depth == "several" and random.random() < 0.1):
        change(random, made)
    return bytes(made)


def producer(random: Random) -> dict[str, Any]:
    """Returns producer fields for some batches, chosen so that some sequences continue, and none for most."""
    if random.random() < 0.7:
        return {}
    sequence = random.choice([-1, 0, 0, 1, 2, 5])
    return {"producer_id": random.choice([7, 8, 9]), "producer_epoch": random.choice([0, 0, 1]), "base_sequence": sequence}


def records(random: Random) -> list[Record]:
    """Returns a few different records, or many that are alike but for one field."""
    if random.random() < 0.8:
        start, texts, count = random.choice(TIMES), random.choice([TEXTS, TEXTS[2:]]), random.randint(1, 8)
        times = [start if random.random() < 0.7 else random.choice(TIMES) for _ in range(count)]
        return [Record(n, time, random.choice(texts), random.choice(texts), random.choice(HEADERS)) for n, time in enumerate(times)]
    count, step, every = random.randint(10, 200), random.choice([0, 1, 3, -1, 100]), random.randint(2, 90)
    key, other, value = random.choice(TEXTS), random.choice(TEXTS), random.choice(TEXTS)
    return [Record(n, 40_000 + n * step, other if n % every == every - 1 else key, value, []) for n in range(count)]


def change(random: Random, data: bytearray) -> None:
    """Makes one to three changes at random positions."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if data:
            random.choice(CHANGES)(random, data, random.randrange(len(data)))


def flip(random: Random, data: bytearray, at: int) -> None:
    data[at] ^= 1 << random.randrange(8)


def overwrite(random: Random, data: bytearray, at: int) -> None:
    data[at : at + 4] = random.randbytes(min(random.randint(1, 4), len(data) - at))


def overwrite_varint(random: Random, data: bytearray, at: int) -> None:
    data[at : at + 1] = random.choice(VARINTS)


def insert(random: Random, data: bytearray, at: int) -> None:
    data[at:at] = random.choice([b"\0", b"\x01", b"\xff", bytes(9), random.randbytes(3), data[:at][-20:]])


def remove(random: Random, data: bytearray, at: int) -> None:
    del data[at : at + random.choice([1, 1, 2, 5, 30])]


def truncate(random: Random, data: bytearray, at: int) -> None:
    del data[random.choice([at, len(data) - 1, len(data) - 1]) :]


def append(random: Random, data: bytearray, at: int) -> None:
    data += random.choice([b"\0", b"\x02", bytes(5), random.randbytes(4), bytes(data[at:]), bytes(data)])


CHANGES: list[Callable[[Random, bytearray, int], None]] = [flip, flip, flip, overwrite, overwrite_varint, insert, remove, truncate, append]


def change_header(random: Random, batch: bytearray) -> None:
    """Changes one or two fields, some of them only by one."""
    for name in random.sample([*FIELDS, "count", "last-delta", "attributes", "length", "magic"], random.choice([1, 1, 2])):
        at, width = {"length": (8, 4), "magic": (16, 1)}.get(name) or FIELDS[name]
        value = int.from_bytes(batch[at : at + width], "big", signed=True)
        bits = 8 * width
        wanted = random.choice([value + 1, value - 1, value ^ 1 << random.randrange(bits), *random.sample(EDGES, 2)])
        batch[at : at + width] = (wanted % (1 << bits)).to_bytes(width, "big")
