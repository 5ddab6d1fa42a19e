"""A fault: what it matches, what it does, and what it has hit or missed."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from ...protocol.schema import Message
from ..gate import Asked
from .elements import Element, Elements
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
    """A fault of a cluster. `number` identifies it, and `text` shows its options to the user."""

    subject = "request"
    """What the fault hits."""

    def __init__(self, number: int, text: str, criteria: Criteria, schedule: Schedule, acts: Sequence[Act], random: Random) -> None:
        self.number = number
        self.text = text
        self.criteria = criteria
        self.schedule = schedule
        self.acts = tuple(acts)
        self.hits = 0
        self.removed = False
        self.exchanges: deque[Exchange] = deque(maxlen=EXCHANGES)
        self.misses: Counter[tuple[str, Mismatch]] = Counter()
        """How many requests were not hit, by API and reason."""
        self._matched = 0
        self._random = random
        self._strikes_later = any(act.strikes_later for act in acts)

    def takes(self, asked: Asked, request: Message, elements: Elements) -> bool:
        """Returns whether the acts apply to a request, and counts the hit unless an act does that itself by `strikes`."""
        try:
            reason = self.criteria.mismatch(asked, request, elements)
        except Exception as error:  # raised by the user's function
            log.exception("the condition of fault %d failed", self.number)
            reason = Mismatch("when", (f"{type(error).__name__}: {error}",))
        if reason is not None:
            self.miss(asked.header.api.name, reason)
            return False
        return self._strikes_later or self.strikes(asked, elements.of(request, asked.context.broker))

    def strikes(self, asked: Asked, found: Sequence[Element]) -> bool:
        """Returns whether a matching request with these elements is hit according to the schedule, and counts it."""
        header, context, client = asked.header, asked.context, asked.channel.client
        if not self.is_due(header.api.name):
            return False
        topics = tuple(dict.fromkeys(element.topic for element in found if element.topic is not None))
        node_id, version, correlation_id = context.broker.node_id, header.version, header.correlation_id
        names = (client.connection_id, client.client_id, header.api.name)
        self.hit(Exchange(context.now_ms, node_id, *names, version, correlation_id, topics))
        return True

    def is_due(self, api: str) -> bool:
        """Returns whether the schedule lets a matching request or connection be hit, and counts it as matching."""
        schedule = self.schedule
        if schedule.times is not None and self.hits >= schedule.times:
            self.miss(api, Mismatch("times"))
            return False
        self._matched += 1
        if self._matched <= schedule.skip:
            reason = "skip"
        elif (self._matched - schedule.skip) % schedule.every:
            reason = "every"
        elif schedule.probability < 1 and self._random.random() >= schedule.probability:
            reason = "probability"
        else:
            return True
        self.miss(api, Mismatch(reason))
        return False

    def hit(self, exchange: Exchange) -> None:
        """Counts a hit."""
        self.hits += 1
        self.exchanges.append(exchange)

    def miss(self, api: str, reason: Mismatch) -> None:
        """Counts a request that was not hit. The number of different reasons is limited."""
        key = (api, reason)
        if key not in self.misses and len(self.misses) >= MISSES:
            key = (api, Mismatch(reason.criterion))
        self.misses[key] += 1
