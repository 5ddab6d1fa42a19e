"""A fault of requests and a fault of new connections: what they match, what they do, and what they have hit or missed."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from ...protocol.schema import Message
from ..api.gate import Asked, Channel
from ..api.registry import CloseConnection
from ..cluster.broker import Broker
from .delivery import Hang
from .elements import Element, Elements
from .match import Criteria, Mismatch
from .options import Exchange

if TYPE_CHECKING:
    from .acts import Act

EXCHANGES = 1000
"""The number of exchanges that a fault remembers: the latest ones."""
MISSES = 100
"""The number of different reasons for not matching that a fault counts."""

CONNECTION = "connection"
"""Takes the place of an API where the hits and misses of a fault are listed."""

log = logging.getLogger("kafka.server.KafkaApis")


class Fault:
    """A fault of a cluster. `number` identifies it, and `text` shows its options to the user."""

    subject = "request"
    """A word for the things that the fault hits."""

    def __init__(self, number: int, text: str, criteria: Criteria, acts: Sequence[Act], random: Random) -> None:
        self.number = number
        self.text = text
        self.criteria = criteria
        self.acts = tuple(acts)
        for act in acts:
            act.fault = self
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

    def check(self, asked: Asked, request: Message, elements: Elements) -> Mismatch | None:
        """Counts a request, and returns why the acts do not apply to it, or None if they do.

        A hit is counted here, unless an act does that itself by `strike`.
        """
        try:
            reason = self.criteria.mismatch(asked, request, elements)
        except Exception as error:  # raised by the user's function
            log.exception("the condition of fault %d failed", self.number)
            reason = Mismatch("when", (f"{type(error).__name__}: {error}",))
        if reason is None and not self._strikes_later:
            return self.strike(asked, elements.of(request, asked.context.broker))
        if reason is not None:
            self.miss(asked.header.api.name, reason)
        return reason

    def strike(self, asked: Asked, found: Sequence[Element]) -> Mismatch | None:
        """Counts a matching request with these elements, and returns why the schedule spares it, or None if it is hit."""
        header, context, client = asked.header, asked.context, asked.channel.client
        if (reason := self.check_schedule(header.api.name)) is not None:
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

    def check_schedule(self, api: str) -> Mismatch | None:
        """Counts a matching request or connection, and returns why the schedule spares it, or None."""
        options, name = self.criteria.options, ""
        if options.times is not None and self.hits >= options.times:
            name = "times"
        else:
            self._matched += 1
            skip = options.skip or 0
            if self._matched <= skip:
                name = "skip"
            elif (self._matched - skip) % (options.every or 1):
                name = "every"
            elif options.probability is not None and options.probability < 1 and self._random.random() >= options.probability:
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


class ConnectionFault(Fault):
    """A fault of new connections, which are refused, closed or never answered. With the mode "closed", `reset` decides between RST and FIN.

    A listener that refuses does not listen: the kernel answers the client, and the cluster never learns of it, so that such a fault has no
    hits. In the other modes each new connection is a hit. The requests of a connection that is never answered hang until the fault is
    removed.
    """

    subject = "connection"

    def __init__(self, number: int, text: str, criteria: Criteria, random: Random, *, mode: str, reset: bool = False) -> None:
        super().__init__(number, text, criteria, [Hang(None)], random)
        self._mode = mode
        self._reset = reset
        self._silent: set[int] = set()

    def check(self, asked: Asked, _request: Message, _elements: Elements) -> Mismatch | None:
        """Returns None if the request came on a connection that is never answered, otherwise a mismatch."""
        if asked.channel.client.connection_id not in self._silent:
            return Mismatch(CONNECTION)
        asked.channel.struck(str(self))
        return None

    def miss(self, api: str, reason: Mismatch, count: int = 1) -> None:
        """Counts connections that were not hit. Requests of connections that were open before are not counted."""
        if api == CONNECTION:
            super().miss(api, reason, count)

    def refuses(self, broker: Broker, listener_name: str) -> bool:
        """Returns whether a listener of a broker does not listen."""
        return self._mode == "refused" and self.criteria.connection_mismatch(broker, listener_name) is None

    def opened(self, channel: Channel, broker: Broker) -> None:
        """Closes or silences a new connection that matches. Raises CloseConnection."""
        if self._mode == "refused":
            return
        client, now_ms = channel.client, broker.cluster.timers.now_ms
        if (reason := self.criteria.connection_mismatch(broker, client.listener_name, client.client_host)) is not None:
            return self.miss(CONNECTION, reason)
        if self.check_schedule(CONNECTION) is None:
            self.hit(Exchange(now_ms, broker.node_id, client.connection_id, "", CONNECTION, 0, 0, ()))
            if self._mode == "closed":
                raise CloseConnection(f"fault {self.number} closes new connections", reset=self._reset)
            self._silent.add(client.connection_id)
