"""Decides whether a request is one that a fault is meant for, and names the first criterion that it does not meet.

The criteria are tested in the order of `_TESTS`, the cheapest first. Afterwards, `fault.py` applies the schedule (skip, every, times,
probability), because it depends on the history of the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ...protocol.schema import Message
from ..api.gate import Asked
from ..cluster.broker import Broker
from .elements import Element, Elements
from .options import FaultOptions

_PASSING = frozenset(("when", "after", "until", "skip", "every", "probability"))


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

    def connection_mismatch(self, broker: Broker, listener_name: str, peer: str | None = None) -> Mismatch | None:
        """Returns the first criterion that a connection does not meet, or None. Without a `peer`, that criterion is not tested."""
        if self.options.node not in (None, broker.node_id):
            return Mismatch("node", (str(broker.node_id),))
        if not _glob(self.options.listener, listener_name):
            return Mismatch("listener", (listener_name,))
        if peer is not None and not _glob(self.options.peer, peer):
            return Mismatch("peer", (peer,))
        return self.moment_mismatch(broker.cluster.timers.now_ms)

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
