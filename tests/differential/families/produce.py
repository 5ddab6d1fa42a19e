"""Produce in every version: refused batches, stored records, and the fields of answers."""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack_into

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import HEADER, Record, write_crc
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData

from ..case import Case, Send, Topic, all_versions, id_of
from ..requests import batch_of, read

LONG = (1 << 63) - 1
CODECS = [codec for codec in Compression if codec]


EDGES = (3, 6, 7, 13)
"""Versions in which the handling of batches changes. Other versions only change the format of the answer."""


def cases() -> Iterator[Case]:
    for version in all_versions(PRODUCE):
        for name, configs, steps in _scripts() if version in EDGES else _with_all_fields():
            yield _case(version, name, configs, steps)
        yield from _requests(version)


def send(
    topic: str, version: int, batch: bytes | None, *, partition: int = 0, acks: int = -1, node: int = 1, answered: bool = True
) -> Send:
    """Returns a request with one batch for one partition."""
    data = [PartitionProduceData(index=partition, records=batch)]
    return Send(PRODUCE, version, request([(topic, data)], acks=acks), node=node, answered=answered)


def request(topics: list[tuple[str, list[PartitionProduceData]]], *, acks: int = -1, transactional_id: str | None = None) -> ProduceRequest:
    data = [TopicProduceData(name=name, topic_id=id_of(name), partition_data=partitions) for name, partitions in topics]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=data, transactional_id=transactional_id)


def _case(version: int, name: str, configs: dict[str, str], batches: list[bytes | None]) -> Case:
    """Returns a case that produces batches one after another to its own topic, and then reads the topic."""
    full_name = f"produce.v{version}.{name}"
    topic = Topic(full_name, configs, ((1,),))
    return Case(full_name, (topic,), (*(send(full_name, version, batch) for batch in batches), read(full_name)))


def _scripts() -> Iterator[tuple[str, dict[str, str], list[bytes | None]]]:
    """Yields names, configs of the topic, and batches."""
    one = batch_of(b"x")
    yield "two", {}, [one, batch_of(b"a", b"b", b"c")]
    yield "null", {}, [None]
    yield "empty", {}, [b""]
    yield from _damaged(one)
    yield from _compressed()
    yield from _timed()
    yield from _sequenced()
    yield from _with_all_fields()


def _with_all_fields() -> Iterator[tuple[str, dict[str, str], list[bytes | None]]]:
    """Yields the batches whose answers use all fields."""
    no_key = [Record(0, 1000, b"k", b"v", []), Record(1, 1000, None, b"v", []), Record(2, 1000, None, None, [])]
    for codec in Compression:
        batch = bytes(build_batch(no_key, compression=codec))
        yield f"no-key.{codec.name}", {"cleanup.policy": "compact"}, [batch, batch_of(b"x", key=b"k"), batch_of(b"x")]
    yield "no-key.both", {"cleanup.policy": "compact,delete"}, [bytes(build_batch(no_key))]


def _damaged(one: bytes) -> Iterator[tuple[str, dict[str, str], list[bytes | None]]]:
    yield "cut", {}, [one[:-1]]
    yield "cut-in-header", {}, [one[:40]]
    yield "cut-after-length", {}, [one[:12]]
    yield "doubled", {}, [one + one]
    yield "followed-by-less", {}, [one + one[:-1]]
    yield "followed-by-garbage", {}, [one + bytes(100)]
    yield "length-0", {}, [one[:8] + bytes(4) + one[12:]]
    yield "length-negative", {}, [one[:8] + b"\xff" * 4 + one[12:]]
    for magic in (0, 1, 3, 127, 255):
        yield f"magic-{magic}", {}, [one[:16] + bytes([magic]) + one[17:]]
    yield "crc", {}, [one[:-1] + b"\xff"]
    yield "base-offset", {}, [one[:7] + b"\1" + one[8:]]
    yield "base-offset-and-crc", {}, [one[:7] + b"\1" + one[8:-1] + b"\xff"]
    yield "leader-epoch", {}, [one[:12] + b"\0\0\0\5" + one[16:]]
    for name, position, kind, value in (
        ("last-delta-negative", 23, "i", -1),
        ("last-delta-large", 23, "i", 5),
        ("count-0", 57, "i", 0),
        ("count-negative", 57, "i", -1),
        ("count-2", 57, "i", 2),
        ("codec-5", 21, "h", 5),
        ("codec-7", 21, "h", 7),
        ("control", 21, "h", 0x20),
        ("transactional", 21, "h", 0x10),
        ("delete-horizon", 21, "h", 0x40),
        ("attributes-high", 21, "h", 0x7F00),
        ("producer-without-sequence", 43, "q", 5),
        ("producer-id-negative", 43, "q", -2),
        ("max-timestamp-low", 35, "q", 5),
        ("max-timestamp-high", 35, "q", 5000),
    ):
        yield name, {}, [changed(one, (position, kind, value))]
    yield "count-and-delta-2", {}, [changed(one, (57, "i", 2), (23, "i", 1))]
    yield "count-and-delta-less", {}, [changed(batch_of(b"a", b"b"), (57, "i", 1), (23, "i", 0))]
    yield "too-large", {"max.message.bytes": "100"}, [batch_of(bytes(32)), batch_of(bytes(33)), batch_of(bytes(1000))]
    yield "too-large-and-crc", {"max.message.bytes": "100"}, [batch_of(bytes(1000))[:-1] + b"\1"]
    yield "no-records", {}, [sealed(one[: HEADER.size])]
    for name, payload in (
        ("size-negative", b"\1\0\0\0\1\2x\0"),
        ("size-more", b"\x12\0\0\0\1\2x\0"),
        ("size-less", b"\x0c\0\0\0\1\2x\0"),
        ("size-endless", b"\xff\xff\xff\xff\xff\xff\xff\xff"),
        ("key-size", b"\x0e\0\0\0\x40\2x\0"),
        ("value-size", b"\x0e\0\0\0\1\x40x\0"),
        ("headers-negative", b"\x0e\0\0\0\1\2x\1"),
        ("headers-many", b"\x0e\0\0\0\1\2x\x40"),
        ("header-no-name", b"\x12\0\0\0\1\2x\2\1\0"),
        ("header-null-value", b"\x14\0\0\0\1\2x\2\2a\1"),
        ("timestamp-endless", b"\x1a\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"),
        ("key-minus-2", b"\x0e\0\0\0\3\2x\0"),
        ("attributes", b"\x0e\7\0\0\1\2x\0"),
        ("offset-delta", b"\x0e\0\0\6\1\2x\0"),
        ("more-behind", b"\x0e\0\0\0\1\2x\0\0"),
    ):
        yield f"record.{name}", {}, [sealed(one[: HEADER.size] + payload)]
        for codec in CODECS:
            yield f"record.{name}.{codec.name}", {}, [compressed(one, codec, payload)]


def _compressed() -> Iterator[tuple[str, dict[str, str], list[bytes | None]]]:
    values = [b"abc" * 20] * 5
    gaps = [Record(offset, 1000, None, b"x" * 30, []) for offset in (0, 2, 3)]
    for codec in CODECS:
        batch = batch_of(*values, compression=codec)
        yield f"codec.{codec.name}", {}, [batch]
        yield f"codec.{codec.name}.garbage", {}, [sealed(batch[: HEADER.size] + b"garbage!")]
        yield f"codec.{codec.name}.nothing", {}, [sealed(batch[: HEADER.size])]
        yield f"codec.{codec.name}.cut", {}, [sealed(batch[:-4])]
        yield f"codec.{codec.name}.behind", {}, [sealed(batch + b"\0\0")]
        yield f"codec.{codec.name}.crc", {}, [batch[:-1] + bytes([batch[-1] ^ 1])]
        yield f"codec.{codec.name}.base-offset", {}, [batch[:7] + b"\1" + batch[8:]]
        yield f"codec.{codec.name}.max-timestamp", {}, [changed(batch, (35, "q", 5000))]
        gap = changed(bytes(build_batch(gaps, compression=codec)), (23, "i", 2))
        yield f"codec.{codec.name}.gap", {}, [gap]
        for wanted in ("uncompressed", "gzip", "zstd"):
            yield f"codec.{codec.name}.to-{wanted}", {"compression.type": wanted}, [batch, gap]
    for wanted in ("uncompressed", "gzip", "snappy", "lz4", "zstd"):
        yield f"codec.NONE.to-{wanted}", {"compression.type": wanted}, [batch_of(*values)]
        late = {"compression.type": wanted, "message.timestamp.type": "LogAppendTime"}
        yield f"codec.NONE.to-{wanted}.log-append-time", late, [batch_of(*values)]
    yield "codec.NONE.gap", {}, [changed(bytes(build_batch(gaps)), (23, "i", 2))]
    yield "codec.NONE.gap.to-gzip", {"compression.type": "gzip"}, [changed(bytes(build_batch(gaps)), (23, "i", 2))]


def _timed() -> Iterator[tuple[str, dict[str, str], list[bytes | None]]]:
    append = {"message.timestamp.type": "LogAppendTime"}
    future = [Record(0, 1000, None, b"a", []), Record(1, 4_000_000_000_000, None, b"b", []), Record(2, -1, None, b"c", [])]
    for codec in (Compression.NONE, Compression.LZ4):
        end = codec.name
        yield f"time.append.{end}", append, [batch_of(b"a", b"b", compression=codec)]
        yield f"time.append-bit.{end}", append, [batch_of(b"a", compression=codec, timestamp_type=1)]
        yield f"time.bit.{end}", {}, [batch_of(b"a", b"b", compression=codec, timestamp_type=1)]
        yield f"time.future.{end}", {}, [bytes(build_batch(future, compression=codec))]
        yield f"time.future-allowed.{end}", {"message.timestamp.after.max.ms": str(LONG)}, [bytes(build_batch(future, compression=codec))]
        yield f"time.past.{end}", {"message.timestamp.before.max.ms": "1000"}, [bytes(build_batch(future, compression=codec))]
        yield f"time.none.{end}", {}, [bytes(build_batch([Record(n, -1, None, b"x", []) for n in range(2)], compression=codec))]
        yield (
            f"time.falling.{end}",
            {},
            [bytes(build_batch([Record(n, 500 - 100 * n, None, b"x", []) for n in range(4)], compression=codec))],
        )
        yield (
            f"time.and-key.{end}",
            {"cleanup.policy": "compact"},
            [bytes(build_batch([Record(0, 4_000_000_000_000, b"k", b"", []), Record(1, 0, None, b"", [])], compression=codec))],
        )
        yield f"time.negative.{end}", {}, [bytes(build_batch([Record(0, -1000, None, b"x", [])], compression=codec))]
    yield "time.wraps", {}, [changed(batch_of(b"a", b"b"), (27, "q", LONG))]


def _sequenced() -> Iterator[tuple[str, dict[str, str], list[bytes | None]]]:
    def batch(sequence: int, *values: bytes, epoch: int = 0, producer_id: int = 7) -> bytes:
        return batch_of(*(values or (b"x",)), producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)

    yield "sequence.next", {}, [batch(0, b"a", b"b"), batch(2), batch(3)]
    yield "sequence.first-is-5", {}, [batch(5), batch(6)]
    yield "sequence.gap", {}, [batch(0), batch(2), batch(1)]
    yield "sequence.again", {}, [batch(0, b"a", b"b"), batch(2), batch(0, b"a", b"b"), batch(2), batch(0)]
    yield "sequence.sixth", {}, [*(batch(n) for n in range(7)), batch(0), batch(1), batch(2)]
    yield "sequence.epoch", {}, [batch(0), batch(1, epoch=1), batch(0, epoch=1), batch(1), batch(1, epoch=1)]
    yield "sequence.epoch-negative", {}, [batch(0, epoch=-1), batch(1, epoch=-1), batch(0, epoch=0)]
    yield "sequence.wraps", {}, [batch(0x7FFFFFFE, b"a", b"b", b"c"), batch(1), batch(0x7FFFFFFF)]
    yield "sequence.largest", {}, [batch(0x7FFFFFFF), batch(0)]
    yield "sequence.two-producers", {}, [batch(0), batch(0, producer_id=8), batch(1), batch(5, producer_id=8)]
    yield "sequence.again.append-time", {"message.timestamp.type": "LogAppendTime"}, [batch(0), batch(0)]


def _requests(version: int) -> Iterator[Case]:
    """Yields cases whose requests do not consist of one batch for one partition."""
    one, bad = batch_of(b"x"), batch_of(b"x")[:-1] + b"\xff"

    def case(name: str, *steps: Send, topic: Topic | None = None) -> Case:
        return Case(f"produce.v{version}.{name}", (topic or Topic(named(name)),), steps)

    def named(name: str) -> str:
        return f"produce.v{version}.{name}"

    def partitions(*batches: tuple[int, bytes | None]) -> list[PartitionProduceData]:
        return [PartitionProduceData(index=index, records=batch) for index, batch in batches]

    def whole(name: str, *topics: tuple[str, list[PartitionProduceData]], acks: int = -1, transactional_id: str | None = None) -> Send:
        return Send(PRODUCE, version, request(list(topics), acks=acks, transactional_id=transactional_id))

    for acks in (1, 2, -2, 127):
        yield case(name := f"acks.{acks}", send(named(name), version, one, acks=acks), read(named(name)))
        yield case(name := f"acks.{acks}.bad", send(named(name), version, bad, acks=acks), read(named(name)))
    for kind, batch in (("good", one), ("bad", bad), ("empty", b"")):
        yield case(name := f"acks.0.{kind}", send(named(name), version, batch, acks=0, answered=False), read(named(name)))
    yield case("unknown-topic", send("nobody", version, one))
    yield case("unknown-topic.bad", send("nobody", version, bad))
    yield case("unknown-topic.acks-2", send("nobody", version, one, acks=2))
    yield case("illegal-topic", send("no body/", version, one))
    yield case("no-topic-name", send("", version, one))
    for index in (-1, 7):
        yield case(name := f"partition.{index}", send(named(name), version, one, partition=index))
    yield case("wrong-leader", send(named("wrong-leader"), version, one, node=2), send(named("wrong-leader"), version, one, partition=1))
    yield case("wrong-leader.empty", send(named("wrong-leader.empty"), version, b"", node=2))
    yield case("acks.2.empty", send(named("acks.2.empty"), version, b"", acks=2))
    yield case("unknown-topic.empty", send("nobody", version, b""))
    yield case("internal.empty", send("__consumer_offsets", version, b""), topic=Topic("__consumer_offsets", {}, ((1,),)))
    yield case("internal.wrong-leader", send("__consumer_offsets", version, one, node=2), topic=Topic("__consumer_offsets", {}, ((1,),)))
    yield case("wrong-leader.bad", send(named("wrong-leader.bad"), version, bad, node=2))
    yield case("wrong-leader.acks-2", send(named("wrong-leader.acks-2"), version, one, node=2, acks=2))
    yield case("internal", send("__consumer_offsets", version, one), topic=Topic("__consumer_offsets", {}, ((1,),)))
    yield case("nothing", whole("nothing"))
    yield case("no-partitions", whole("no-partitions", (named("no-partitions"), [])))
    yield case("fates", whole("fates", (named("fates"), partitions((0, one), (1, one), (2, one)))), read(named("fates")))
    mixed = Topic(named("mixed"), {}, ((1,),) * 5)
    fates = whole("mixed", (named("mixed"), partitions((0, one), (1, bad), (2, b""), (3, batch_of(b"y")), (4, one[:12]), (9, one))))
    yield case("mixed", fates, read(named("mixed")), read(named("mixed"), partition=3), topic=mixed)
    yield case("length.mixed", whole("", (named("length.mixed"), partitions((0, one), (1, bytes(20))))), read(named("length.mixed")))
    yield case("twice", whole("twice", (named("twice"), partitions((0, one), (0, batch_of(b"y"))))), read(named("twice")))
    again = (named("twice.topic"), partitions((0, one)))
    yield case("twice.topic", whole("twice", again, again), read(named("twice.topic")))
    two = (named("two-topics"), partitions((0, one)))
    yield case("two-topics", whole("two", two, ("nobody", partitions((0, one), (1, one)))), read(named("two-topics")))
    with_id = whole("", (named("transactional-id"), partitions((0, one))), transactional_id="t")
    yield case("transactional-id", with_id, read(named("transactional-id")))
    in_transaction = batch_of(b"x", producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    both = (named("transactional"), partitions((0, in_transaction), (1, one)))
    yield case("transactional.no-id", whole("", both), read(named("transactional")), topic=Topic(named("transactional")))


def changed(batch: bytes, *fields: tuple[int, str, int]) -> bytes:
    """Returns the batch with changed header fields and a matching CRC."""
    data = bytearray(batch)
    for position, kind, value in fields:
        pack_into(f">{kind}", data, position, value)
    write_crc(data)
    return bytes(data)


def sealed(batch: bytes) -> bytes:
    """Returns the batch with the correct length and CRC."""
    return changed(batch, (8, "i", len(batch) - 12))


def compressed(batch: bytes, codec: Compression, payload: bytes) -> bytes:
    """Returns the batch with other records, compressed."""
    from odradek.protocol.batches.compression import compress

    return sealed(changed(batch, (21, "h", codec))[: HEADER.size] + compress(codec, payload))
