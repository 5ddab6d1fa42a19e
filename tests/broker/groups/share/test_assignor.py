"""The assignor `simple` computes the same assignments as Kafka's SimpleAssignor.

`python -m tests.broker.groups.share.test_assignor` records the assignments of Kafka's class in `simple_assignments.txt`.
"""

from __future__ import annotations

import random
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.broker.groups.share.assignor import NO_PARTITIONS, Assignment, Subscriber, simple
from odradek.broker.kafka_quirks.java_hash import spread, topic_id_hash
from tests import apache_kafka

HERE = Path(__file__).parent
RECORDED = HERE / "simple_assignments.txt"
SEEDS = range(120)
"""The seeds of the groups that are recorded."""
STEPS = 8
Group = tuple[dict[str, tuple[bytes, ...]], dict[bytes, int]]
"""The topic ids of each member, and the numbers of partitions."""


def history(seed: int) -> Iterator[Group]:
    """Yields a group whose members join, leave and subscribe to other topics, and whose topics grow and are deleted."""
    rng = random.Random(seed)
    drawn = [uuid.UUID(int=rng.getrandbits(128), version=4).bytes for _ in range(8)]
    # If the ids of two topics fall into the same bucket, Kafka's order depends on all former assignments.
    apart = {spread(topic_id_hash(topic_id)) & 15: topic_id for topic_id in drawn}
    topics = {topic_id: rng.choice((1, 1, 2, 3, 5, 8, 20)) for topic_id in list(apart.values())[: rng.randint(1, 4)]}
    alike = rng.random() < 0.5
    members: dict[str, tuple[bytes, ...]] = {}
    for _ in range(STEPS):
        for _ in range(rng.randint(1, 4)):
            if len(members) > 1 and rng.random() < 0.3:
                del members[rng.choice(sorted(members))]
            else:
                members[f"member-{rng.randint(0, 30)}"] = _some(rng, topics)
        if rng.random() < 0.3:
            topics[rng.choice(list(topics))] += rng.randint(1, 4)
        if rng.random() < 0.1 and len(topics) > 1:
            del topics[rng.choice(list(topics))]
        common = _some(rng, topics) if alike else None
        members = {
            name: common or tuple(each for each in subscribed if each in topics) or _some(rng, topics)
            for name, subscribed in members.items()
        }
        yield dict(members), dict(topics)


def _some(rng: random.Random, topics: dict[bytes, int]) -> tuple[bytes, ...]:
    return tuple(rng.sample(sorted(topics), rng.randint(1, len(topics))))


def text_of(topic_id: bytes) -> str:
    return urlsafe_b64encode(topic_id).decode().rstrip("=")


def request_of(group: Group) -> str:
    members, topics = group
    named = " ".join(f"{name}={','.join(map(text_of, subscribed))}" for name, subscribed in members.items())
    return f"{named};{' '.join(f'{text_of(topic_id)}={count}' for topic_id, count in topics.items())}"


def response_of(targets: dict[str, Assignment]) -> str:
    return ";".join(f"{name}={' '.join(_shown(targets[name]))}" for name in sorted(targets))


def _shown(target: Assignment) -> list[str]:
    return [
        f"{name}:{','.join(map(str, sorted(indexes)))}" for name, indexes in sorted((text_of(key), value) for key, value in target.items())
    ]


def assigned(seed: int) -> list[str]:
    targets: dict[str, Assignment] = {}
    lines = []
    for members, topics in history(seed):
        subscribers = {name: Subscriber(subscribed, targets.get(name, NO_PARTITIONS)) for name, subscribed in members.items()}
        partitions = {topic_id: frozenset(range(count)) for topic_id, count in topics.items()}
        targets = simple(subscribers, partitions, alike=len(set(map(frozenset, members.values()))) == 1)
        lines.append(response_of(targets))
    return lines


@pytest.mark.parametrize("seed", SEEDS)
def test_simple_equals_assignments_of_kafka(seed: int) -> None:
    recorded = RECORDED.read_text().splitlines()
    assert assigned(seed) == recorded[seed * STEPS : (seed + 1) * STEPS]


def test_simple_without_topics_assigns_nothing() -> None:
    assert simple({"a": Subscriber((), {b"t" * 16: frozenset({0})})}, {}, alike=True) == {"a": NO_PARTITIONS}


def test_simple_without_assignable_partitions_revokes_all() -> None:
    topic = b"t" * 16
    held = Subscriber((topic,), {topic: frozenset({0, 1})})
    assert simple({"a": held}, {}, alike=True) == {"a": {topic: frozenset()}}
    assert simple({"a": held}, {}, alike=False) == {"a": {topic: frozenset()}}


@pytest.mark.parametrize("seed", SEEDS)
def test_simple_shares_all_partitions_evenly(seed: int) -> None:
    targets: dict[str, Assignment] = {}
    for members, topics in history(seed):
        subscribers = {name: Subscriber(subscribed, targets.get(name, NO_PARTITIONS)) for name, subscribed in members.items()}
        partitions = {topic_id: frozenset(range(count)) for topic_id, count in topics.items()}
        targets = simple(subscribers, partitions, alike=len(set(map(frozenset, members.values()))) == 1)
        for topic_id, count in topics.items():
            readers = [name for name, subscribed in members.items() if topic_id in subscribed]
            shared = [sum(index in targets[name].get(topic_id, ()) for name in readers) for index in range(count)]
            if readers:  # Kafka leaves the targets of a topic that nobody reads as they are if members read different topics
                assert min(shared) > 0, "each partition has a member"
                assert all(not targets[name].get(topic_id) for name in members if name not in readers)


def record() -> None:
    requests = [line for seed in SEEDS for line in ("new", *map(request_of, history(seed)))]
    command = apache_kafka.command(str(HERE / "SimpleAssignments.java"))
    answered = subprocess.run(command, input="\n".join(requests) + "\n", capture_output=True, text=True, check=True)
    RECORDED.write_text(answered.stdout)


if __name__ == "__main__":
    record()
