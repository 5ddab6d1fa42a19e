"""A fault of requests and a fault of new connections: what they match, what they do, and what they have hit or missed.

`Criteria` decides whether a request is one that a fault is meant for, and names the first criterion that it does not meet. The criteria are
tested in the order of `_TESTS`, the cheapest first. Afterwards the fault applies its schedule (skip, every, times, probability), because
that depends on the history of the fault.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from ...protocol.schema import Message
from ..api.gate import Asked, Channel
from ..api.registry import CloseConnection
from ..cluster.broker import Broker
from .delivery import Hang
from .elements import Element, Elements
from .options import Exchange, FaultOptions

if TYPE_CHECKING:
    from .acts import Act

EXCHANGES = 1000
"""The number of exchanges that a fault remembers: the latest ones."""
MISSES = 100
"""The number of different reasons for not matching that a fault counts."""

CONNECTION = "connection"
"""Takes the place of an API where the hits and misses of a fault are listed."""

_PASSING = frozenset(("when", "after", "until", "skip", "every", "probability", "point", "possible"))

log = logging.getLogger("kafka.server.KafkaApis")


class Mismatch(NamedTuple):
    """Why a request was not hit: the criterion, such as "topic", and what the request had instead."""

    criterion: str
    actual: tuple[str, ...] = ()

    @property
    def lasts(self) -> bool:
        """Whether the same bytes on the same connection will not be hit later either."""
        return self.criterion not in _PASSING


class Criteria:
    """The requests that a fault with some options hits. All requests meet an option that is not given; texts are globs, compared with case.

    `apis` are the APIs of a fault whose options name none.
    """

    def __init__(self, options: FaultOptions, apis: tuple[str, ...] | None = None) -> None:
        self.options = options
        self.apis = apis if options.api is None else tuple(items_of(options.api))
        self.partitions = None if options.partitions is None else frozenset(items_of(options.partitions))
        self.after_ms = _moment_ms(options.after)
        self.until_ms = _moment_ms(options.until)

    def text(self, name: str) -> str:
        """Returns a criterion as it is shown to the user."""
        if name == "partitions" and self.partitions is not None:
            return ", ".join(map(str, sorted(self.partitions)))
        return repr(getattr(self.options, name))

    @property
    def selects_elements(self) -> bool:
        """Whether some elements of a request may match while others do not."""
        return any(each is not None for each in (self.options.topic, self.partitions, self.options.group, self.options.transactional_id))

    def selects(self, element: Element) -> bool:
        """Returns whether an element is one that these criteria are about."""
        return (
            _glob(self.options.topic, element.topic)
            and (self.partitions is None or element.partition in self.partitions)
            and _glob(self.options.group, element.group)
            and _glob(self.options.transactional_id, element.transactional_id)
        )

    def admits(self, element: Element) -> bool:
        """Returns whether an element, or a part of it, may be one that these criteria are about."""
        return (
            (element.topic is None or _glob(self.options.topic, element.topic))
            and (element.partition is None or self.partitions is None or element.partition in self.partitions)
            and (element.group is None or _glob(self.options.group, element.group))
            and (element.transactional_id is None or _glob(self.options.transactional_id, element.transactional_id))
        )

    def is_about(self, api: str) -> bool:
        """Returns whether requests of an API can match."""
        return self.apis is None or api in self.apis

    def mismatch(self, asked: Asked, request: Message, elements: Elements) -> Mismatch | None:
        """Returns the first criterion that a request of one of the APIs does not meet, or None if it meets all of them."""
        for test in _TESTS:
            if (found := test(self, asked)) is not None:
                return found
        if self.selects_elements and (found := self._element_mismatch(elements.of(request, asked.context.broker))) is not None:
            return found
        if self.options.when is not None and not self.options.when(request):
            return Mismatch("when")
        return None

    def connection_mismatch(self, broker: Broker, listener_name: str, now_ms: int, peer: str | None = None) -> Mismatch | None:
        """Returns the first criterion that a connection does not meet, or None. Without a `peer`, that criterion is not tested."""
        if self.options.node not in (None, broker.node_id):
            return Mismatch("node", (str(broker.node_id),))
        if not _glob(self.options.listener, listener_name):
            return Mismatch("listener", (listener_name,))
        if peer is not None and not _glob(self.options.peer, peer):
            return Mismatch("peer", (peer,))
        return self.moment_mismatch(now_ms)

    def moment_mismatch(self, now_ms: int) -> Mismatch | None:
        """Returns "after" or "until" if it is too early or too late, otherwise None."""
        if self.after_ms is not None and now_ms < self.after_ms:
            return Mismatch("after")
        return Mismatch("until") if self.until_ms is not None and now_ms >= self.until_ms else None

    def _element_mismatch(self, found: list[Element]) -> Mismatch | None:
        """Returns the criterion that excludes the last of the elements. A topic that is named as a whole has all its partitions."""
        left = found
        for name in ("transactional_id", "group", "topic"):
            pattern = getattr(self.options, name)
            named = [(element, getattr(element, name)) for element in left]
            left = [element for element, value in named if _glob(pattern, value)]
            if not left:
                return Mismatch(name, tuple(sorted({value for _, value in named if value is not None})))
        indexes = {element.partition for element in left}
        if self.partitions is None or None in indexes or indexes & self.partitions:
            return None
        return Mismatch("partitions", tuple(str(index) for index in sorted(index for index in indexes if index is not None)))


def items_of(value: Any) -> list[Any]:
    """Returns the items of an option that is one value or a sequence of values, none for None."""
    if value is None:
        return []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _moment_ms(moment: datetime | str | int | None) -> int | None:
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return round(moment.timestamp() * 1000) if isinstance(moment, datetime) else moment


def _glob(pattern: str | None, value: str | None) -> bool:
    return pattern is None or (value is not None and fnmatchcase(value, pattern))


def _version(criteria: Criteria, asked: Asked) -> Mismatch | None:
    version = asked.header.version
    if criteria.options.min_version is not None and version < criteria.options.min_version:
        return Mismatch("min_version", (str(version),))
    if criteria.options.max_version is not None and version > criteria.options.max_version:
        return Mismatch("max_version", (str(version),))
    return None


def _node(criteria: Criteria, asked: Asked) -> Mismatch | None:
    node_id = asked.context.broker.node_id
    return None if criteria.options.node in (None, node_id) else Mismatch("node", (str(node_id),))


def _connection(criteria: Criteria, asked: Asked) -> Mismatch | None:
    connection_id = asked.channel.client.connection_id
    return None if criteria.options.connection in (None, connection_id) else Mismatch("connection", (str(connection_id),))


def _text(name: str, value_of: Callable[[Asked], str]) -> Callable[[Criteria, Asked], Mismatch | None]:
    def test(criteria: Criteria, asked: Asked) -> Mismatch | None:
        pattern = getattr(criteria.options, name)
        if pattern is None or fnmatchcase(value := value_of(asked), pattern):
            return None
        return Mismatch(name, (value,))

    return test


def _acks(criteria: Criteria, asked: Asked) -> Mismatch | None:
    acks = getattr(asked.request, "acks", None)
    return None if criteria.options.acks in (None, acks) else Mismatch("acks", (str(acks),))


_TESTS = (
    _version,
    _node,
    _text("listener", lambda asked: asked.channel.client.listener_name),
    _text("client_id", lambda asked: asked.channel.client.client_id),
    _text("client_software", lambda asked: f"{asked.channel.client.software_name}/{asked.channel.client.software_version}"),
    _text("principal", lambda asked: asked.channel.client.principal),
    _text("peer", lambda asked: asked.channel.client.client_host),
    _connection,
    _acks,
    lambda criteria, asked: criteria.moment_mismatch(asked.context.now_ms),
)


class Fault:
    """A fault of a cluster. `number` identifies it, and `text` shows its options to the user."""

    subject = "request"
    """A word for the things that the fault hits."""
    outlives_reset = False
    """Whether the fault remains when the state of the cluster is replaced, because it counts the requests of a whole test."""

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

    def refuses(self, broker: Broker, listener_name: str, now_ms: int) -> bool:
        """Returns whether a listener of a broker does not listen."""
        return self._mode == "refused" and self.criteria.connection_mismatch(broker, listener_name, now_ms) is None

    def opened(self, channel: Channel, broker: Broker, now_ms: int) -> None:
        """Closes or silences a new connection that matches. Raises CloseConnection."""
        if self._mode == "refused":
            return
        client = channel.client
        if (reason := self.criteria.connection_mismatch(broker, client.listener_name, now_ms, client.client_host)) is not None:
            return self.miss(CONNECTION, reason)
        if self.check_schedule(CONNECTION) is None:
            self.hit(Exchange(now_ms, broker.node_id, client.connection_id, "", CONNECTION, 0, 0, ()))
            if self._mode == "closed":
                raise CloseConnection(f"fault {self.number} closes new connections", reset=self._reset)
            self._silent.add(client.connection_id)
