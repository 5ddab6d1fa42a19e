"""Compares the state of the cluster before and after each refused request: a refused request must leave no trace.

`ALLOWED` lists the changes that Apache Kafka makes as well, with their reasons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from odradek.broker.cluster.state import ClusterState
from odradek.protocol.errors import ErrorCode
from tests.state import Armed, Excluded, changes, cluster_state, deadlines

from .case import LOCALHOST, Case, Family, Send, SendRaw
from .clusters import EmulatedCluster, EmulatedConnection
from .replay import CLOSED, Replay, create_topics, topics_of

SHOWN = 300


class Trace(NamedTuple):
    """A change that a refused request has made."""

    case: str
    api: str
    error: ErrorCode | None
    """The first error of the answer; None if the connection was closed."""
    change: str

    def __str__(self) -> str:
        return f"{self.case}, {self.api} {self.error.name if self.error else CLOSED}: {self.change[:SHOWN]}"


class Allowed(NamedTuple):
    """A change that a refused request may make; `change` is a shell pattern."""

    api: str
    error: ErrorCode | None
    change: str
    reason: str

    def covers(self, trace: Trace) -> bool:
        return (self.api, self.error) == (trace.api, trace.error) and fnmatchcase(trace.change, self.change)


E = ErrorCode
FIRST_FETCH = "a fetch session begins even if its first request is answered with an error"
FENCES = "the transaction is aborted so that a retry succeeds, and the error requests this retry"
VERIFICATION = "later batches of the producer must not overtake the refused one (Kafka's VerificationStateEntry)"
JOINED_FIRST = "Kafka adds the partition to the transaction before it validates the batch"
GROUP_FIRST = "Kafka creates the group, even in place of an empty consumer group, before it validates the protocols"
CREATED_ANYWAY = "Kafka creates the group if one of the topics exists, although none of the named partitions does"
ALLOWED = (
    Allowed("JoinGroup", E.MEMBER_ID_REQUIRED, "*", "not a refusal: the assigned member id is kept until its session ends"),
    Allowed("JoinGroup", E.GROUP_MAX_SIZE_REACHED, ".groups.*", "a member that exceeds the limit of the next generation is removed"),
    Allowed("JoinGroup", E.GROUP_MAX_SIZE_REACHED, ".timers.*", "the same"),
    Allowed("StreamsGroupHeartbeat", E.UNKNOWN_MEMBER_ID, ".groups.*shutdown_member*", "a shutdown may be requested by any member id"),
    Allowed("Heartbeat", E.REBALANCE_IN_PROGRESS, ".timers.*'session'*", "the heartbeat is valid and renews the session"),
    Allowed("Heartbeat", E.REBALANCE_IN_PROGRESS, ".timers.*'join'*", "the rebalance timeout of the member that must join begins"),
    Allowed("Fetch", E.UNKNOWN_TOPIC_OR_PARTITION, ".nodes.*._sessions.*", FIRST_FETCH),
    Allowed("Fetch", E.UNKNOWN_TOPIC_ID, ".nodes.*._sessions.*", FIRST_FETCH),
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
    *(
        Allowed("AlterShareGroupOffsets", E.UNKNOWN_TOPIC_OR_PARTITION, change, CREATED_ANYWAY)
        for change in (".names.1*", ".groups.*: new", ".topics.__consumer_offsets.*")
    ),
    Allowed("Produce", E.REQUEST_TIMED_OUT, ".topics.*.log.*", "not a refusal: the batch was appended, but not replicated in time"),
)
"""Changes that Kafka makes as well."""


class Moment(NamedTuple):
    """The state of a cluster and its timers. Timers are stored unprocessed, because few moments are ever compared."""

    state: dict[str, Any]
    armed: Armed

    def changes(self, after: Moment) -> Iterator[str]:
        """Yields the changes between this moment and a later one."""
        yield from changes(self.state, after.state)
        yield from changes(deadlines(self.armed), deadlines(after.armed), ".timers")


NEVER = Moment({}, {})


class WatchedConnection(EmulatedConnection):
    """Stores the moments before and after each request that is answered at once."""

    def __init__(self, target: WatchedCluster, node: int, host: str, listener: str) -> None:
        super().__init__(target.world, node, host, listener)
        self.target = target

    def send(self, frames: bytes) -> None:
        self.world.advance(1)
        before = self.target.before()
        self.client.feed(frames)
        answered = bool(self.client.sent or self.client.closed)
        self.target.around = (before, self.target.now()) if answered else (NEVER, NEVER)


class WatchedCluster(EmulatedCluster):
    """Our broker, whose state is observed.

    State that is older than the present case is left out, because no case refers to what another case has created.
    """

    def __init__(self, family: Family) -> None:
        super().__init__(family.settings, family.nodes, sasl=family.sasl, as_version=family.as_version)
        self.around = NEVER, NEVER
        self.excluded = Excluded()

    def connect(self, node: int, host: str = LOCALHOST, listener: str = "") -> WatchedConnection:
        return WatchedConnection(self, node, host, listener)

    def stop(self, node: int) -> None:
        super().stop(node)
        self.around = NEVER, NEVER

    def start(self, node: int) -> None:
        super().start(node)
        self.around = NEVER, NEVER

    def now(self) -> Moment:
        return Moment(cluster_state(self.world.cluster, self.excluded), dict(self.world.timers._armed))

    def before(self) -> Moment:
        """Returns the moment before a request: the moment after the last request, if no timer has fired since."""
        last = self.around[1]
        return last if last.state and last.armed == self.world.timers._armed else self.now()

    def begin(self, case: Case) -> None:
        """Excludes all existing state except the topics of the case."""
        cluster: ClusterState = self.world.cluster
        named = {topic.name for topic in topics_of([case])}
        groups = {*cluster.groups._table._groups, *cluster.groups.offsets._offsets}
        self.excluded = Excluded(frozenset(cluster.topics.keys() - named), frozenset(groups), frozenset(cluster.transactions._transactions))
        self.around = NEVER, NEVER


class WatchedReplay(Replay):
    """Runs one case and collects the changes that its refused requests have made."""

    def __init__(self, target: WatchedCluster, ids: dict[str, bytes]) -> None:
        super().__init__(target, ids)
        self.watched = target
        self.traces: list[Trace] = []

    def run(self, case: Case) -> list[str]:
        self.watched.begin(case)
        self.case = case.name
        return super().run(case)

    def send(self, step: Send | SendRaw) -> str:
        answer = super().send(step)
        before, after = self.watched.around
        if is_refused(answer):
            api = "bytes" if isinstance(step, SendRaw) else step.api.name
            self.traces += [Trace(self.case, api, first_error(answer), change) for change in before.changes(after)]
        return answer


def first_error(answer: str) -> ErrorCode | None:
    found = re.search(r'"error_code":(-?\d+)', answer)
    return ErrorCode(int(found[1])) if found else None


def is_refused(answer: str) -> bool:
    """Returns whether a rendered answer contains nothing but errors."""
    if answer == CLOSED:
        return True
    return answer.startswith("{") and (errors := list(_errors(json.loads(answer)))) != [] and all(errors)


def _errors(value: Any) -> Iterator[bool]:
    """Yields for each innermost part of an answer whether it has an error. The code NONE is not rendered."""
    if value.get("error_code"):
        yield True
        return
    parts = [item for field in value.values() if isinstance(field, list) for item in field if isinstance(item, dict)]
    if not parts:
        yield False
    for part in parts:
        yield from _errors(part)


def left_behind(traces: Iterable[Trace]) -> list[Trace]:
    """Returns the changes that are not allowed."""
    return [trace for trace in traces if not any(allowed.covers(trace) for allowed in ALLOWED)]


def replay_watched(family: Family) -> tuple[dict[str, list[str]], list[Trace]]:
    """Returns the answers to each case, and the changes that refused requests have made."""
    target, cases = WatchedCluster(family), list(family.cases())
    ids = create_topics(target, topics_of(cases, family.coordinators))
    answers, traces = {}, []
    for case in cases:
        replay = WatchedReplay(target, ids)
        answers[case.name] = replay.run(case)
        traces += replay.traces
    target.world.cluster.log_levels.restore()  # they are those of this process
    return answers, traces
