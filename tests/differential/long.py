"""Many damaged batches to Apache Kafka and to us: `make damaged BATCHES=100000 SEED=1`. What is answered and stored must be the same."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import randrange

from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from tests.apache_kafka import QUICK, ApacheKafka

from .asking import read
from .comparing import Difference, differences
from .families.batches import TOPICS
from .mutating import Sent, batches
from .playing import SETTINGS, Apache, Emulated, play
from .script import Ask, Case, Cases, Topic, id_of

ROUND = 1000
SHOWN = 50


def cases(seed: int, count: int) -> Cases:
    """A round of batches is a case with topics of its own, one of each kind; at its end all that was stored is read."""
    sent = batches(seed, count)
    for number in range(-(-count // ROUND)):
        names = {kind: f"damaged.{seed}.{number}.{kind}" for kind in TOPICS}
        topics = tuple(Topic(name, TOPICS[kind], ((1,),)) for kind, name in names.items())
        asks = [_ask(names[each.kind], each) for each in islice(sent, ROUND)]
        yield Case(f"damaged.{seed}.{number}", topics, (*asks, *(read(name) for name in names.values())))


def _ask(topic: str, sent: Sent) -> Ask:
    data = [PartitionProduceData(index=0, records=sent.batch)]
    request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, topic_id=id_of(topic), partition_data=data)])
    return Ask(PRODUCE, sent.version, request)


def main(count: int, seed: int) -> int:
    print(f"{count} batches, seed {seed}", flush=True)  # noqa: T201
    with ApacheKafka(nodes=2, settings=QUICK | SETTINGS) as kafka:
        theirs = {case.name: answers for case, answers in play(Apache(kafka), cases(seed, count))}
    ours = {case.name: answers for case, answers in play(Emulated(), cases(seed, count))}
    found = differences(theirs, ours)
    answered = Counter(_kind(line) for answers in theirs.values() for line in answers)
    print(*(f"{times:8} {kind}" for kind, times in answered.most_common()), sep="\n")  # noqa: T201
    print(f"{len(found)} fields differ", *found[:SHOWN], sep="\n")  # noqa: T201
    return 1 if found else 0
