"""Valid and damaged batches that Hypothesis has generated, each produced to its own topic.

`generated_batches.txt` contains them, with a line `topic version hex` for each. `python -m tests.differential.families.batches` generates
other ones, which must then be recorded. `found_batches.txt` contains batches for which long runs (`damage_run.py`) found a difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from odradek.protocol.batches.compression import Compression, compress
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import HEADER, Record, write_crc
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData

from ..case import Case, Send, Topic, id_of
from ..requests import read

GENERATED = Path(__file__).parents[1] / "generated_batches.txt"
FOUND = GENERATED.with_name("found_batches.txt")
COUNT = 700
TOPICS = {
    "plain": {},
    "compact": {"cleanup.policy": "compact"},
    "append-time": {"message.timestamp.type": "LogAppendTime"},
    "gzip": {"compression.type": "gzip"},
    "uncompressed": {"compression.type": "uncompressed"},
    "small": {"max.message.bytes": "300"},
    "past": {"message.timestamp.before.max.ms": "1000000000000"},
}
FIELDS = {
    "leader-epoch": (12, 4),
    "attributes": (22, 1),
    "last-delta": (23, 4),
    "base-time": (27, 8),
    "max-time": (35, 8),
    "producer": (43, 8),
}
FIELDS |= {"epoch": (51, 2), "sequence": (53, 4), "count": (57, 4)}


def cases() -> Iterator[Case]:
    found = [(f"found.{number}", line) for number, line in enumerate(FOUND.read_text().splitlines())]
    for number, line in [*((str(number), line) for number, line in enumerate(GENERATED.read_text().splitlines())), *found]:
        kind, version, batch = line.split()
        name = f"batches.{number}.{kind}"
        data = [PartitionProduceData(index=0, records=bytes.fromhex(batch))]
        topics = [TopicProduceData(name=name, topic_id=id_of(name), partition_data=data)]
        request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)
        yield Case(name, (Topic(name, TOPICS[kind], ((1,),)),), (Send(PRODUCE, int(version), request), read(name)))


TIMES = (
    st.sampled_from([-1, 0, 1000, 1063, 1064, 10_000, 4_000_000_000_000, -5])
    | st.integers(0, 6 * 10**11)
    | st.integers(9 * 10**11, 1 << 40)
)
BYTES = st.none() | st.sampled_from([b"", b"k", b"v" * 63, b"v" * 64, bytes(130)]) | st.binary(max_size=12)
HEADERS = st.lists(st.tuples(st.sampled_from(["", "h", "ü", "name" * 20]), BYTES), max_size=3)


@st.composite
def records(draw: Any) -> list[Record]:
    """Draws a few different records, or many that are alike but for one field."""
    if draw(st.integers(0, 5)):
        count = draw(st.integers(1, 8))
        start = draw(TIMES)
        times = draw(st.just([start] * count) | st.lists(TIMES, min_size=count, max_size=count))
        return [Record(n, times[n], draw(BYTES), draw(BYTES), draw(HEADERS)) for n in range(count)]
    count, step, every = draw(st.integers(10, 130)), draw(st.sampled_from([0, 1, 3, -1, 100])), draw(st.integers(2, 90))
    key, value, other = draw(BYTES), draw(st.binary(max_size=4)), draw(BYTES)
    return [Record(n, 20_000 + n * step, other if n % every == every - 1 else key, value, []) for n in range(count)]


@st.composite
def batch(draw: Any) -> bytes:
    """Draws a batch. Two of three are damaged: in the records, in the header, or in the encoded bytes."""
    codec = draw(st.sampled_from([*Compression, Compression.NONE, Compression.NONE]))
    producer = draw(st.sampled_from([(-1, -1, -1)] * 3 + [(7, 0, 0), (7, 0, 5), (7, 1, -1)]))
    options = dict(zip(("producer_id", "producer_epoch", "base_sequence"), producer, strict=True))
    plain = build_batch(draw(records()), timestamp_type=draw(st.sampled_from([0] * 7 + [1])), **options)
    payload, wrong = bytearray(plain[HEADER.size :]), draw(st.sampled_from(["", "", "records", "records", "header", "wire"]))
    if wrong == "records":
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, max(len(payload) - 1, 0)))
            payload[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    made = plain[: HEADER.size] + compress(codec, bytes(payload))
    made[8:12] = (len(made) - 12).to_bytes(4, "big")
    made[22] |= codec
    if wrong == "header":
        for at, width in draw(st.lists(st.sampled_from(sorted(FIELDS.values())), min_size=1, max_size=2)):
            made[at : at + width] = (
                draw(st.integers(-3, 130)).to_bytes(width, "big", signed=True) if width > 1 else draw(st.binary(min_size=1, max_size=1))
            )
    write_crc(made)
    if wrong == "wire":
        at = draw(st.integers(0, len(made) - 1))
        made[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(made)


def generate() -> None:
    found: dict[str, None] = {}

    @settings(
        max_examples=COUNT * 2,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(st.sampled_from([*TOPICS, "plain", "plain"]), st.integers(PRODUCE.versions.first, PRODUCE.versions.last), batch())
    def collect(kind: str, version: int, data: bytes) -> None:
        found[f"{kind} {version} {data.hex()}"] = None

    collect()
    GENERATED.write_text("".join(f"{line}\n" for line in list(found)[:COUNT]))


if __name__ == "__main__":
    generate()
