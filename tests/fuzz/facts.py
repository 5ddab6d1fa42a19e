"""What is known of the cluster from its own answers, as a client knows it: names, ids and epochs that belong together.

Without them hardly a generated request would get past the first check, since ids are drawn by the broker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from odradek.protocol.schema import Api

KEPT = 12
LONGEST_NAME = 300
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
    """A producer without a transactional id has ""."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


class SessionFact(NamedTuple):
    session_id: int
    session_epoch: int


@dataclass(slots=True)
class Known:
    """The facts that one frame is made of; mutable, as a new one is drawn for almost every frame."""

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
    """The newest facts of each kind. A `spared` topic is never learnt, so nothing is asked of it by name or id."""

    def __init__(self, spared: str = "") -> None:
        self._spared = spared
        self.topics: list[TopicFact] = [TopicFact(name, bytes(16)) for name in TOPICS]
        self.members: list[MemberFact] = [MemberFact(group_id, "", 0, None) for group_id in GROUPS]
        self.members += [MemberFact(GROUPS[0], "", 0, "i0"), MemberFact(GROUPS[1], "", 0, "i1")]
        self.producers: list[ProducerFact] = [ProducerFact(name, -1, -1) for name in TRANSACTIONAL_IDS]
        self.sessions: list[SessionFact] = [SessionFact(0, 0)]

    def draw(self, random: Random) -> Known:
        """One fact of each kind."""
        topic, member, producer, session = (
            pool[int(random.random() * len(pool))] for pool in (self.topics, self.members, self.producers, self.sessions)
        )
        return Known(*topic, *member, *producer, *session)  # type: ignore[misc]

    def learn(self, api: Api, known: Known, answer: Any) -> None:
        """Takes in what an answer tells to a request that was made of `known`."""
        lesson = _LESSONS.get(api.key)
        if lesson is not None:
            lesson(self, known, answer)

    def learn_topic(self, name: str, topic_id: bytes) -> None:
        """A topic is there."""
        if 0 < len(name) < LONGEST_NAME and name != self._spared:
            self.keep(self.topics, TopicFact(name, topic_id), 1)

    def keep(self, pool: list[Any], fact: Any, same: int) -> None:
        """In the place of the one whose first `same` fields are equal, or of the oldest but for the first, with which all begins."""
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


_LESSONS: dict[int, Callable[[Facts, Known, Any], None]] = {
    1: _learn_session,
    3: _learn_topics,
    11: _learn_member,
    19: _learn_topics,
    22: _learn_producer,
    26: _learn_producer,
    68: _learn_member,
}
