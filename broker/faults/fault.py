"""A fault: what it matches, what it does, and what it has hit or missed."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from ...protocol.schema import Message
from ..api.gate import Asked
from .elements import Element, Elements
from .exchange import Exchange
from .match import Criteria, Mismatch

if TYPE_CHECKING:
    from .acts import Act

EXCHANGES = 1000
"""The number of exchanges that a fault remembers: the latest ones."""
MISSES = 100
"""The number of different reasons for not matching that a fault counts."""

log = logging.getLogger("kafka.server.KafkaApis")


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
    """A word for the things that the fault hits."""

    def __init__(self, number: int, text: str, criteria: Criteria, schedule: Schedule, acts: Sequence[Act], random: Random) -> None:
        self.number = number
        self.text = text
        self.criteria = criteria
        self.schedule = schedule
        self.acts = tuple(acts)
        for act in acts:
            act.fault_number = number
        self.hits = 0
        self.removed = False
        self.exchanges: deque[Exchange] = deque(maxlen=EXCHANGES)
        self.misses: Counter[tuple[str, Mismatch]] = Counter()
        """How many requests of the APIs of the fault were not hit, by API and reason."""
        self.others = 0
        """How many requests of other APIs were seen."""
        self._matched = 0
        self._random = random
        self._strikes_later = any(act.strikes_later for act in acts)

    def takes(self, asked: Asked, request: Message, elements: Elements) -> Mismatch | None:
        """Returns None if the acts apply to a request, and otherwise the reason. Counts the request.

        A hit is counted here, unless an act does that itself by `strikes`.
        """
        try:
            reason = self.criteria.mismatch(asked, request, elements)
        except Exception as error:  # raised by the user's function
            log.exception("the condition of fault %d failed", self.number)
            reason = Mismatch("when", (f"{type(error).__name__}: {error}",))
        if reason is None and not self._strikes_later:
            return self.strikes(asked, elements.of(request, asked.context.broker))
        if reason is not None:
            self.miss(asked.header.api.name, reason)
        return reason

    def strikes(self, asked: Asked, found: Sequence[Element]) -> Mismatch | None:
        """Counts a matching request with these elements. Returns None if it is hit, and otherwise what the schedule has against it."""
        header, context, client = asked.header, asked.context, asked.channel.client
        if (reason := self.not_due(header.api.name)) is not None:
            return reason
        topics = tuple(dict.fromkeys(element.topic for element in found if element.topic is not None))
        node_id, version, correlation_id = context.broker.node_id, header.version, header.correlation_id
        names = (client.connection_id, client.client_id, header.api.name)
        self.hit(Exchange(context.now_ms, node_id, *names, version, correlation_id, topics))
        asked.channel.struck(str(self))
        return None

    def __str__(self) -> str:
        """Returns number and options, as they are shown in lists."""
        return f"fault {self.number}: {self.text}"

    def not_due(self, api: str) -> Mismatch | None:
        """Counts a matching request or connection. Returns what the schedule has against a hit, or None."""
        schedule, name = self.schedule, ""
        if schedule.times is not None and self.hits >= schedule.times:
            name = "times"
        else:
            self._matched += 1
            if self._matched <= schedule.skip:
                name = "skip"
            elif (self._matched - schedule.skip) % schedule.every:
                name = "every"
            elif schedule.probability < 1 and self._random.random() >= schedule.probability:
                name = "probability"
        if not name:
            return None
        self.miss(api, Mismatch(name))
        return Mismatch(name)

    def hit(self, exchange: Exchange) -> None:
        """Counts a hit."""
        self.hits += 1
        self.exchanges.append(exchange)

    def miss(self, api: str, reason: Mismatch, count: int = 1) -> None:
        """Counts requests that were not hit. The number of different reasons is limited."""
        key = (api, reason)
        if key not in self.misses and len(self.misses) >= MISSES:
            key = (api, Mismatch(reason.criterion))
        self.misses[key] += count
