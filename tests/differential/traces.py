"""A refused request leaves no trace: while a family is played, the state of the cluster is compared before and after each.

What may change all the same is in `ALLOWED`, with the reason that it does so in Apache Kafka too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from odradek.broker.cluster.state import ClusterState
from odradek.protocol.errors import ErrorCode
from tests.state import Armed, Known, changes, cluster_state, deadlines

from .playing import CLOSED, Emulated, EmulatedConnection, Playing, create, topics_of
from .script import LOCALHOST, Ask, Case, Family, Raw

SHOWN = 300


class Trace(NamedTuple):
    """What a refused request has changed."""

    case: str
    api: str
    error: ErrorCode | None
    """The first one of the answer; None if the connection was closed."""
    change: str

    def __str__(self) -> str:
        return f"{self.case}, {self.api} {self.error.name if self.error else CLOSED}: {self.change[:SHOWN]}"


class Allowed(NamedTuple):
    """A change that a refused request may make; `change` is a pattern as in a shell."""

    api: str
    error: ErrorCode | None
    change: str
    reason: str

    def covers(self, trace: Trace) -> bool:
        return (self.api, self.error) == (trace.api, trace.error) and fnmatchcase(trace.change, self.change)


E = ErrorCode
FIRST_FETCH = "a fetch session begins with whatever its first request is answered"
FENCES = "the transaction is aborted, so that the next try succeeds: the error only asks for it"
VERIFICATION = "what a producer sends behind the refused batch must not overtake it (Kafka's VerificationStateEntry)"
JOINED_FIRST = "Kafka adds the partition to the transaction before it looks at the batch"
GROUP_FIRST = "Kafka makes the group, in the place of an empty consumer group too, before it looks at the protocols"
ALLOWED = (
    Allowed("JoinGroup", E.MEMBER_ID_REQUIRED, "*", "no refusal: the id that is handed out is remembered until its session ends"),
    Allowed("JoinGroup", E.GROUP_MAX_SIZE_REACHED, ".groups.*", "a member that has no room in the next generation is removed"),
    Allowed("JoinGroup", E.GROUP_MAX_SIZE_REACHED, ".timers.*", "the same"),
    Allowed("Heartbeat", E.REBALANCE_IN_PROGRESS, ".timers.*'session'*", "the heartbeat is one, and renews the session"),
    Allowed("Heartbeat", E.REBALANCE_IN_PROGRESS, ".timers.*'join'*", "who is told to join has its rebalance timeout for that"),
    Allowed("Fetch", E.UNKNOWN_TOPIC_OR_PARTITION, ".nodes.*._sessions.*", FIRST_FETCH),
    Allowed("InitProducerId", E.CONCURRENT_TRANSACTIONS, "*", FENCES),
    *(
        Allowed("JoinGroup", E.INCONSISTENT_GROUP_PROTOCOL, change, GROUP_FIRST)
        for change in (".names.1*", ".groups.*: new", ".groups.*: gone", ".groups.*.empty_since_ms*", ".topics.__consumer_offsets.*")
    ),
    *(
        Allowed("Produce", code, ".topics.*.producers._refused.*", VERIFICATION)
        for code in (E.INVALID_TXN_STATE, E.TRANSACTION_ABORTABLE, E.INVALID_PRODUCER_ID_MAPPING, E.INVALID_PRODUCER_EPOCH)
    ),
    *(
        Allowed("Produce", E.OUT_OF_ORDER_SEQUENCE_NUMBER, change, JOINED_FIRST)
        for change in (".topics.__transaction_state.*", ".transactions.*", ".timers.*'transaction*")
    ),
)
"""The few changes that Kafka makes too."""


class Moment(NamedTuple):
    """The state of a cluster and its timers. They are kept as they are, since few are ever compared."""

    state: dict[str, Any]
    armed: Armed

    def changes(self, after: Moment) -> Iterator[str]:
        """What has changed until a later moment."""
        yield from changes(self.state, after.state)
        yield from changes(deadlines(self.armed), deadlines(after.armed), ".timers")


NEVER = Moment({}, {})


class WatchedConnection(EmulatedConnection):
    """Has the moments around each request kept that is answered at once."""

    def __init__(self, side: Watched, node: int, host: str) -> None:
        super().__init__(side.world, node, host)
        self.side = side

    def send(self, frames: bytes) -> None:
        self.world.advance(1)
        before = self.side.before()
        self.client.feed(frames)
        answered = bool(self.client.sent or self.client.closed)
        self.side.around = (before, self.side.now()) if answered else (NEVER, NEVER)


class Watched(Emulated):
    """Ours, with an eye on its state. What is older than the present case is left out: no case names what another has made."""

    def __init__(self, settings: Mapping[str, str], nodes: int) -> None:
        super().__init__(settings, nodes)
        self.around = NEVER, NEVER
        self.known = Known()

    def connect(self, node: int, host: str = LOCALHOST) -> WatchedConnection:
        return WatchedConnection(self, node, host)

    def stop(self, node: int) -> None:
        super().stop(node)
        self.around = NEVER, NEVER

    def start(self, node: int) -> None:
        super().start(node)
        self.around = NEVER, NEVER

    def now(self) -> Moment:
        return Moment(cluster_state(self.world.cluster, self.known), dict(self.world.timers._armed))

    def before(self) -> Moment:
        """The moment before a request: the one after the last request, if no timer has fired since."""
        last = self.around[1]
        return last if last.state and last.armed == self.world.timers._armed else self.now()

    def begin(self, case: Case) -> None:
        """Leaves out what is there already, but for the topics of the case."""
        cluster: ClusterState = self.world.cluster
        named = {topic.name for topic in topics_of([case])}
        groups = {*cluster.groups._table._groups, *cluster.groups.offsets._offsets}
        self.known = Known(frozenset(cluster.topics.keys() - named), frozenset(groups), frozenset(cluster.transactions._transactions))
        self.around = NEVER, NEVER


class WatchedPlaying(Playing):
    """One case, and what its refused requests have changed."""

    def __init__(self, side: Watched, ids: dict[str, bytes]) -> None:
        super().__init__(side, ids)
        self.watched = side
        self.traces: list[Trace] = []

    def play(self, case: Case) -> list[str]:
        self.watched.begin(case)
        self.case = case.name
        return super().play(case)

    def ask(self, step: Ask | Raw) -> str:
        answer = super().ask(step)
        before, after = self.watched.around
        if is_refused(answer):
            api = "bytes" if isinstance(step, Raw) else step.api.name
            self.traces += [Trace(self.case, api, first_error(answer), change) for change in before.changes(after)]
        return answer


def first_error(answer: str) -> ErrorCode | None:
    found = re.search(r'"error_code":(-?\d+)', answer)
    return ErrorCode(int(found[1])) if found else None


def is_refused(answer: str) -> bool:
    """Whether an answer, as it is rendered, says nothing but errors."""
    if answer == CLOSED:
        return True
    return answer.startswith("{") and (errors := list(_errors(json.loads(answer)))) != [] and all(errors)


def _errors(value: Any) -> Iterator[bool]:
    """For each part of an answer that has no parts with errors of their own: whether it has one. The code 0 is not rendered."""
    if value.get("error_code"):
        yield True
        return
    parts = [item for field in value.values() if isinstance(field, list) for item in field if isinstance(item, dict)]
    if not parts:
        yield False
    for part in parts:
        yield from _errors(part)


def left_behind(traces: Iterable[Trace]) -> list[Trace]:
    """Those that are not allowed."""
    return [trace for trace in traces if not any(allowed.covers(trace) for allowed in ALLOWED)]


def play_watched(family: Family) -> tuple[dict[str, list[str]], list[Trace]]:
    """As `play`: the answers to each case, and what its refused requests have changed."""
    side, cases = Watched(family.settings, family.nodes), list(family.cases())
    ids = create(side, topics_of(cases, family.coordinators))
    answers, traces = {}, []
    for case in cases:
        playing = WatchedPlaying(side, ids)
        answers[case.name] = playing.play(case)
        traces += playing.traces
    return answers, traces
