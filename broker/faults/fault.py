"""A fault: what it matches, what it does, and what it has hit or missed."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from ...protocol.schema import Message
from ..gate import Asked
from .elements import Elements
from .match import Criteria, Mismatch

if TYPE_CHECKING:
    from .acts import Act

EXCHANGES = 1000
"""The number of exchanges that a fault remembers: the latest ones."""
MISSES = 100
"""The number of different reasons for not matching that a fault counts."""

log = logging.getLogger("kafka.server.KafkaApis")


@dataclass(frozen=True)
class Exchange:
    """A request that a fault has hit. `time_ms` is the time of the cluster in milliseconds since the Unix epoch."""

    time_ms: int
    node: int
    connection: int
    client_id: str
    api: str
    version: int
    correlation_id: int
    topics: tuple[str, ...]


@dataclass(frozen=True)
class Schedule:
    """Which of the matching requests are hit: after the first `skip`, every n-th, at most `times`, with a probability."""

    skip: int = 0
    every: int = 1
    times: int | None = None
    probability: float = 1.0


class Fault:
    """A fault of a cluster. `on_hit` callbacks are called after each hit, and `on_end` ones when the fault is removed."""

    def __init__(self, number: int, text: str, criteria: Criteria, schedule: Schedule, acts: Sequence[Act], random: Random) -> None:
        self.number = number
        self.text = text
        self.criteria = criteria
        self.schedule = schedule
        self.acts = tuple(acts)
        self.hits = 0
        self.removed = False
        self.exchanges: deque[Exchange] = deque(maxlen=EXCHANGES)
        self.on_hit: list[Callable[[], None]] = []
        self.misses: Counter[tuple[str, Mismatch]] = Counter()
        """How many requests did not match, by API and reason."""
        self._matched = 0
        self._random = random

    def takes(self, asked: Asked, request: Message, elements: Elements) -> bool:
        """Returns whether a request is hit, and counts it."""
        try:
            reason = self.criteria.mismatch(asked, request, elements) or self._not_due()
        except Exception as error:
            log.exception("the condition of fault %d failed", self.number)
            reason = Mismatch("when", (f"{type(error).__name__}: {error}",))
        if reason is not None:
            self._miss(asked.header.api.name, reason)
            return False
        self._hit(asked, request, elements)
        return True

    def _not_due(self) -> Mismatch | None:
        """Returns why a request that matches is left alone by the schedule, or None."""
        schedule = self.schedule
        if schedule.times is not None and self.hits >= schedule.times:
            return Mismatch("times")
        self._matched += 1
        if self._matched <= schedule.skip:
            return Mismatch("skip")
        if (self._matched - schedule.skip) % schedule.every:
            return Mismatch("every")
        return None if schedule.probability >= 1 or self._random.random() < schedule.probability else Mismatch("probability")

    def _miss(self, api: str, reason: Mismatch) -> None:
        key = (api, reason)
        if key not in self.misses and len(self.misses) >= MISSES:
            key = (api, Mismatch(reason.criterion))
        self.misses[key] += 1

    def _hit(self, asked: Asked, request: Message, elements: Elements) -> None:
        header, context = asked.header, asked.context
        topics = tuple(dict.fromkeys(element.topic for element in elements.of(request, context.broker) if element.topic is not None))
        client = asked.channel.client
        self.exchanges.append(
            Exchange(
                context.now_ms,
                context.broker.node_id,
                client.connection_id,
                client.client_id,
                header.api.name,
                header.version,
                header.correlation_id,
                topics,
            )
        )
        self.hits += 1
        for told in list(self.on_hit):
            told()
