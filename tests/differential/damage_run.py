"""Sends many damaged batches to Apache Kafka and to our broker: `make damaged BATCHES=100000 SEED=1`.

Answers and stored records must be the same.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import islice
from random import randrange
from time import time_ns

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.records import COMPRESSION_MASK
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from tests.apache_kafka import QUICK, ApacheKafka

from .case import Case, Cases, Send, Topic, id_of
from .clusters import SETTINGS, EmulatedCluster, ServedCluster
from .comparison import Difference, Recording, differences
from .damaged_batches import Sent, batches
from .families.batches import TOPICS
from .replay import replay
from .requests import read

ROUND = 1000
PATIENCE_S = 20
"""Apache Kafka allocates as much memory as a damaged length states, so some answers take long."""
ERROR_CODE = re.compile(r'"error_code":(-?\d+)')


def cases(seed: int, count: int) -> Cases:
    """Returns a case for each round of batches, with its own topic of each kind. The last steps of a case read all that was stored."""
    sent = batches(seed, count)
    one_file = {"segment.ms": str((1 << 63) - 1)}
    for number in range(-(-count // ROUND)):
        names = {kind: f"damaged.{seed}.{number}.{kind}" for kind in TOPICS}
        topics = tuple(Topic(name, TOPICS[kind] | one_file, ((1,),)) for kind, name in names.items())
        requests = [_produce(names[each.kind], each) for each in islice(sent, ROUND)]
        yield Case(f"damaged.{seed}.{number}", topics, (*requests, *(read(name) for name in names.values())))


def _produce(topic: str, sent: Sent) -> Send:
    data = [PartitionProduceData(index=0, records=sent.batch)]
    request = ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, topic_id=id_of(topic), partition_data=data)]
    )
    return Send(PRODUCE, sent.version, request)


def is_known(difference: Difference, codec: int) -> bool:
    """Returns whether both brokers refuse the batch with different errors because its zstd frame is damaged.

    Kafka reads the blocks before the damage; our broker reads a frame as a whole or not at all.
    """
    field = difference.field == "responses.partition_responses.error_code"
    return field and codec == Compression.ZSTD and (difference.theirs, difference.ours) == ("87", "-1")


def first_differences(seed: int, count: int, theirs: Recording, ours: Recording) -> list[tuple[Difference, Sent | None]]:
    """Returns the first difference of each topic, because others may follow from it, and the batch that it concerns.

    The batch is None when the difference is in the records that the last steps of the case read.
    """
    found: dict[tuple[str, str], tuple[Difference, Sent | None]] = {}
    sent = list(batches(seed, count))
    for difference in differences(theirs, ours):
        number, step = int(difference.case.rpartition(".")[2]), difference.step - 1
        size = min(ROUND, count - number * ROUND)
        batch = sent[number * ROUND + step] if step < size else None
        kind = batch.kind if batch else list(TOPICS)[step - size]
        if batch is None or not is_known(difference, batch.batch[22] & COMPRESSION_MASK if len(batch.batch) > 22 else 0):
            found.setdefault((difference.case, kind), (difference, batch))
    return list(found.values())


def main(count: int, seed: int) -> int:
    print(f"{count} batches, seed {seed}", flush=True)  # noqa: T201
    with ApacheKafka(nodes=2, settings=QUICK | SETTINGS) as kafka:
        theirs = {
            case.name: answers
            for case, answers in replay(ServedCluster(kafka.bootstrap_servers), cases(seed, count), patience_s=PATIENCE_S)
        }
    emulated = EmulatedCluster({})
    emulated.world.timers.now_ms = time_ns() // 1_000_000
    ours = {case.name: answers for case, answers in replay(emulated, cases(seed, count), patience_s=PATIENCE_S)}
    codes = Counter(code for answers in theirs.values() for line in answers for code in ERROR_CODE.findall(line) or ["0"])
    print("error codes:", *(f"{code} {times} times," for code, times in codes.most_common()))  # noqa: T201
    found = first_differences(seed, count, theirs, ours)
    for difference, batch in found:
        print(difference, batch and f"{batch.kind} v{batch.version} {batch.batch.hex()}")  # noqa: T201
    print(f"{len(found)} topics of {len(theirs) * len(TOPICS)} differ")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else randrange(1 << 32)))
