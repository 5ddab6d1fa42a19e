"""Facts about the cluster that were learnt from its answers: names, ids and epochs that belong together.

Without them most generated requests would fail in the first check, because the broker generates random ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from odradek.protocol.schema import Api

KEPT = 12
MAX_NAME_LENGTH = 300
TOPICS = ("t0", "t1", "t2", "u.a", "u_a")
GROUPS = ("g0", "g1", "g2", "g3")
TRANSACTIONAL_IDS = ("x0", "x1", "x2")


class TopicFact(NamedTuple):
    name: str
    id: bytes


class MemberFact(NamedTuple):
    """`generation_id` is the member epoch in a consumer group."""

    group_id: str
    member_id: str
    generation_id: int
    instance_id: str | None


class ProducerFact(NamedTuple):
    """A producer; its transactional id is "" if it has none."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


class SessionFact(NamedTuple):
    session_id: int
    session_epoch: int


@dataclass(slots=True)
class Known:
    """The facts that one frame is generated from."""

    topic: str = TOPICS[0]
    topic_id: bytes = bytes(16)
    group_id: str = GROUPS[0]
    member_id: str = ""
    generation_id: int = -1
    instance_id: str | None = None
    transactional_id: str = TRANSACTIONAL_IDS[0]
    producer_id: int = -1
    producer_epoch: int = -1
    session_id: int = 0
    session_epoch: int = 0


class Facts:
    """The newest facts of each kind. The topic `excluded` is never learnt, so that no request refers to it."""

    def __init__(self, excluded: str = "") -> None:
        self._excluded = excluded
        self.topics: list[TopicFact] = [TopicFact(name, bytes(16)) for name in TOPICS]
        self.members: list[MemberFact] = [MemberFact(group_id, "", 0, None) for group_id in GROUPS]
        self.members += [MemberFact(GROUPS[0], "", 0, "i0"), MemberFact(GROUPS[1], "", 0, "i1")]
        self.producers: list[ProducerFact] = [ProducerFact(name, -1, -1) for name in TRANSACTIONAL_IDS]
        self.sessions: list[SessionFact] = [SessionFact(0, 0)]

    def draw(self, random: Random) -> Known:
        """Returns one fact of each kind."""
        topic, member, producer, session = (
            pool[int(random.random() * len(pool))] for pool in (self.topics, self.members, self.producers, self.sessions)
        )
        return Known(*topic, *member, *producer, *session)

    def learn(self, api: Api, known: Known, answer: Any) -> None:
        """Learns from the answer to a request that was generated from `known`."""
        learner = _LEARNERS.get(api.key)
        if learner is not None:
            learner(self, known, answer)

    def learn_topic(self, name: str, topic_id: bytes) -> None:
        """Adds an existing topic."""
        if 0 < len(name) < MAX_NAME_LENGTH and name != self._excluded:
            self.keep(self.topics, TopicFact(name, topic_id), 1)

    def keep(self, pool: list[Any], fact: Any, same: int) -> None:
        """Replaces the fact whose first `same` fields are equal; otherwise the oldest, except the initial fact, if the pool is full."""
        for index, other in enumerate(pool):
            if other[:same] == fact[:same]:
                pool[index] = fact
                return
        if len(pool) >= KEPT:
            del pool[1]
        pool.append(fact)


def _learn_topics(facts: Facts, known: Known, answer: Any) -> None:
    for topic in answer.topics:
        if not topic.error_code:
            facts.learn_topic(topic.name or "", getattr(topic, "topic_id", bytes(16)))


def _learn_member(facts: Facts, known: Known, answer: Any) -> None:
    if answer.member_id:
        generation_id = getattr(answer, "generation_id", None)
        if generation_id is None:
            generation_id = answer.member_epoch
        facts.keep(facts.members, MemberFact(known.group_id, answer.member_id, generation_id, known.instance_id), 2)


def _learn_producer(facts: Facts, known: Known, answer: Any) -> None:
    if not answer.error_code and answer.producer_id >= 0:
        facts.keep(facts.producers, ProducerFact(known.transactional_id, answer.producer_id, answer.producer_epoch), 1)


def _learn_session(facts: Facts, known: Known, answer: Any) -> None:
    if not answer.error_code and answer.session_id:
        epoch = known.session_epoch + 1 if answer.session_id == known.session_id else 1
        facts.keep(facts.sessions, SessionFact(answer.session_id, epoch), 1)


_LEARNERS: dict[int, Callable[[Facts, Known, Any], None]] = {
    1: _learn_session,
    3: _learn_topics,
    11: _learn_member,
    19: _learn_topics,
    22: _learn_producer,
    26: _learn_producer,
    68: _learn_member,
}
