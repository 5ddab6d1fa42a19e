"""Points: the requests of a test at which faults are tried, and their specifications.

A specification such as "OffsetCommit#1@billing:lost-response" names the API, the number of the request among those of its API and role, the
role, and the fault. " + " joins the specifications of a pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...protocol.messages import APIS
from ...protocol.schema import Message
from ..control_errors import InvalidControl, unknown
from ..wire.exchange import Entry, Exchange
from .roles import TRANSACTIONAL, ClientRole, RequestCounter, Sender

FORM = "API#NUMBER@ROLE:FAULT, such as OffsetCommit#1@billing:lost-response"
SEPARATOR = " + "
_SPECIFICATION = re.compile(r"(?P<api>\w+)#(?P<number>[1-9]\d{0,8})@(?P<role>.+):(?P<fault>[a-z-]+)", re.DOTALL)
_NEXT = re.compile(r" \+ (?=\w+#\d+@)")
_API_NAMES = {api.name for api in APIS.values()}
_PRODUCER_ID = slice(43, 51)
"""The place of the producer id in a record batch (KIP-98)."""


class Specification(NamedTuple):
    """A fault at a point. `role` is one of the texts of a role."""

    api: str
    number: int
    role: str
    fault: str

    def __str__(self) -> str:
        return f"{self.api}#{self.number}@{self.role}:{self.fault}"


@dataclass(frozen=True)
class RequestPoint:
    """A request of a run. `role_text` is the text of the role that is the same in all runs.

    `acks` is None for requests other than Produce. `is_idempotent` says that a Produce has a producer id, so that brokers recognise
    repetitions. `topics` are the topics that the request names. A client did not wait for a request that is not answered.
    """

    api: str
    number: int
    role: ClientRole
    role_text: str
    acks: int | None = None
    is_idempotent: bool = False
    topics: tuple[str, ...] = ()
    is_answered: bool = True

    @property
    def is_transactional(self) -> bool:
        """Whether a transactional producer has sent it."""
        return self.role.kind == TRANSACTIONAL

    def at(self, fault: str) -> Specification:
        """Returns the specification of a fault at this point."""
        return Specification(self.api, self.number, self.role_text, fault)


def parse_specifications(text: str, faults: Iterable[str]) -> list[Specification]:
    """Returns the specifications in a text. Raises InvalidControl for one that is not in the form, or names an unknown API or fault."""
    known = list(faults)
    return [parse_specification(each.strip(), known) for each in _NEXT.split(text)]


def parse_specification(text: str, faults: Iterable[str]) -> Specification:
    """Returns the only specification in a text. Raises InvalidControl as `parse_specifications` does."""
    found = _SPECIFICATION.fullmatch(text)
    if found is None:
        raise InvalidControl("point", f"must have the form {FORM}, not {text!r}")
    if found["api"] not in _API_NAMES:
        raise unknown("point", "API", found["api"], _API_NAMES)
    if found["fault"] not in faults:
        raise unknown("point", "fault", found["fault"], faults)
    return Specification(found["api"], int(found["number"]), found["role"], found["fault"])


def points_of(entries: Iterable[Entry]) -> list[RequestPoint]:
    """Returns the points of a run from its record, in the order in which the requests arrived."""
    counter = RequestCounter()
    points = []
    for entry in sorted(entries, key=lambda each: each.sequence):
        if isinstance(entry, Exchange) and (request := entry.partial_request) is not None:
            sender = Sender(entry.connection, entry.client_id or "", entry.peer.rpartition(":")[0])
            role, number = counter.count(sender, entry.api, request)
            points.append(_point(entry, role, number, request))
    return points


def _point(exchange: Exchange, role: ClientRole, number: int, request: Message) -> RequestPoint:
    acks = getattr(request, "acks", None)
    return RequestPoint(
        exchange.api, number, role, role.text, acks, _is_idempotent(request), exchange.topics, exchange.answered is not None
    )


def _is_idempotent(request: Any) -> bool:
    """Returns whether the first batch of a Produce has a producer id."""
    for topic in getattr(request, "topic_data", ()):
        for partition in topic.partition_data:
            if partition.records is not None:
                producer_id = bytes(partition.records[_PRODUCER_ID])
                return len(producer_id) == 8 and int.from_bytes(producer_id, "big", signed=True) >= 0
    return False


def common_points(runs: Sequence[Sequence[RequestPoint]]) -> list[RequestPoint]:
    """Returns the points of the first run that all runs have, with the texts of their roles that all runs have.

    A text with the name of a group or a transactional id is preferred to one with its number.
    """
    named = [{(each.api, each.number, each.role.text) for each in run} for run in runs]
    ordinal = [{(each.api, each.number, each.role.ordinal_text) for each in run} for run in runs]
    found = []
    for point in runs[0]:
        for text, others in ((point.role.text, named), (point.role.ordinal_text, ordinal)):
            if all((point.api, point.number, text) in other for other in others):
                found.append(RequestPoint(**{**vars(point), "role_text": text}))
                break
    return found
