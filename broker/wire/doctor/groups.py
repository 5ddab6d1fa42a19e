"""Members that lose their groups, and clients that share a group id or the id of a static member by mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from ....protocol.schema import ProtocolError
from ....protocol.stored.consumer_protocol import ConsumerProtocolSubscription, read
from ...plurals import counted
from ..exchange import Entry, Exchange
from .finding import Finding, densest, evidence, span_s
from .history import ClientHistory, WireHistory, families
from .memberships import End, Membership, memberships_of

MANY_RETURNS, WITHIN_MS = 3, 60_000.0
_CURES = {
    "their sessions expired": (
        "let members send heartbeats in time: raise the session time-out above the longest pause of the client",
        ("session.timeout.ms", "heartbeat.interval.ms"),
    ),
    "they did not poll in time": (
        "process fewer records between two polls, or raise the limit for the time between them",
        ("max.poll.interval.ms", "max.poll.records"),
    ),
    "they left and came back": (
        "keep the consumer open instead of closing it after each batch; for restarts, give members a static id",
        ("group.instance.id", "session.timeout.ms"),
    ),
    "the group removed them": (
        "find out who removes the members, such as a deleted group or a cluster that was reset",
        ("group.id",),
    ),
}


def short_time_outs(history: WireHistory) -> Iterable[Finding]:
    """Finds members that a group removed, or that left, because processing took longer than a time-out of theirs."""
    for client in history.clients:
        memberships = [each for each in memberships_of(client) if not _is_excused(each, history)]
        for expired in [each for each in memberships if each.has_expired]:
            yield _expiry(client, expired)
        for late in _late(memberships):
            yield _late_poll(client, late)


def _is_excused(membership: Membership, history: WireHistory) -> bool:
    """Returns whether a membership has ended after a fault or a disturbance."""
    return membership.ending is not None and history.excuses(membership.last, membership.ending)


def _expiry(client: ClientHistory, membership: Membership) -> Finding:
    silence, limit = span_s(0, membership.silence_ms), membership.session_timeout_ms
    problem = f"a member of group {membership.group} was silent for {silence}, so its session of {limit} ms expired"
    advice = "raise the session time-out above the longest pause, or do not block the thread that sends heartbeats"
    settings = ("session.timeout.ms", "heartbeat.interval.ms", "max.poll.records")
    return Finding("a session time-out shorter than processing", str(client), problem, advice, settings, _entries_of(membership))


def _late_poll(client: ClientHistory, membership: Membership) -> Finding:
    limit = membership.poll_timeout_ms
    problem = f"a member of group {membership.group} left it, because its program did not poll within {limit} ms"
    advice = "raise the limit above the longest processing of one batch, or take fewer records with each poll"
    settings = ("max.poll.interval.ms", "max.poll.records")
    return Finding("a session time-out shorter than processing", str(client), problem, advice, settings, _entries_of(membership))


def _late(memberships: Sequence[Membership]) -> list[Membership]:
    """Returns the members that polled late and came back, which a consumer that is closed does not."""
    return [
        each
        for number, each in enumerate(memberships)
        if each.polled_late and any(other.group == each.group for other in memberships[number + 1 :])
    ]


def _entries_of(membership: Membership) -> tuple[Entry, ...]:
    return evidence(each for each in (membership.first, membership.last, membership.ending) if each is not None)


def rebalance_storms(history: WireHistory) -> Iterable[Finding]:
    """Finds groups whose members go and come back MANY_RETURNS times within WITHIN_MS. Each return makes the group rebalance twice."""
    for client in families(history.clients):
        memberships = memberships_of(client)
        for group in dict.fromkeys(each.group for each in memberships):
            returns = _returns([each for each in memberships if each.group == group and not _is_excused(each, history)])
            storm = densest(returns, lambda pair: pair[1].first.received.wall_ms, WITHIN_MS)
            if len(storm) >= MANY_RETURNS:
                causes = Counter(_cause(before) for before, _ in storm)
                cause = causes.most_common(1)[0][0]
                seconds = span_s(storm[0][1].first.received.wall_ms, storm[-1][1].first.received.wall_ms)
                problem = f"members of group {group} returned {counted(len(storm), 'time')} within {seconds}: {cause}"
                advice, settings = _CURES[cause]
                entries = [each for before, after in storm for each in (before.ending, after.first) if each is not None]
                yield Finding("rebalance storm", str(client), problem, advice, settings, evidence(entries))


def _returns(memberships: Sequence[Membership]) -> list[tuple[Membership, Membership]]:
    """Returns pairs of a membership that ended and the next one that began after it."""
    ended = sorted((each for each in memberships if each.ending is not None), key=_end)
    pairs = []
    for after in memberships:
        if ended and _end(ended[0]) < after.first.sequence:
            pairs.append((ended.pop(0), after))
    return pairs


def _end(membership: Membership) -> int:
    return membership.first.sequence if membership.ending is None else membership.ending.sequence


def _cause(membership: Membership) -> str:
    if membership.has_expired:
        return "their sessions expired"
    if membership.end is End.REMOVED:
        return "the group removed them"
    return "they did not poll in time" if membership.polled_late else "they left and came back"


_HEARTBEAT = ("ConsumerGroupHeartbeat",)
_JOINS = ("JoinGroup", *_HEARTBEAT)
_FENCED = {"FENCED_INSTANCE_ID", "UNRELEASED_INSTANCE_ID"}
MAX_COMPARED, MAX_FENCED = 100, 5
"""The latest members of a group that are compared with each other, and the latest refusals for which a rival is looked for."""
_OWN_GROUP_ID = "give each application a group.id of its own"


class SubscribedMember(NamedTuple):
    """A member of a group with the topics to which it has subscribed last. `end` is the number of the entry with which it has left."""

    client: ClientHistory
    group: str
    join: Exchange
    end: float
    topics: frozenset[str]


def groups_with_other_topics(history: WireHistory) -> Iterable[Finding]:
    """Finds groups with two members at the same time that have no topic in common."""
    by_group: dict[str, list[SubscribedMember]] = {}
    for client in history.clients:
        for subscriber in _subscribers(client):
            by_group.setdefault(subscriber.group, []).append(subscriber)
    for group, subscribers in by_group.items():
        for first, second in combinations(subscribers[-MAX_COMPARED:], 2):
            if _are_together(first, second) and not first.topics & second.topics:
                problem = f"group {group} has members with other topics: {_wants(first)}, and {_wants(second)}"
                advice = f"{_OWN_GROUP_ID}; members of one group disturb each other by each rebalance, and share commits"
                yield Finding(
                    "a clash of a group id", str(second.client), problem, advice, ("group.id",), evidence((first.join, second.join))
                )
                break


def _are_together(first: SubscribedMember, second: SubscribedMember) -> bool:
    return first.join.sequence < second.end and second.join.sequence < first.end


def _wants(subscriber: SubscribedMember) -> str:
    return f"{subscriber.client.name} subscribes to {', '.join(sorted(subscriber.topics))}"


def _subscribers(client: ClientHistory) -> Iterator[SubscribedMember]:
    closed = [each.closed.sequence for each in client.connections if each.closed is not None]
    gone = max(closed) if len(closed) == len(client.connections) else float("inf")
    for membership in memberships_of(client):
        topics = _topics(membership.last_join)
        if topics:
            end = gone if membership.ending is None else membership.ending.sequence
            yield SubscribedMember(client, membership.group, membership.last_join, end, topics)


def _topics(join: Exchange) -> frozenset[str]:
    """Returns the topics to which a request subscribes, none if it is not a consumer's."""
    request: Any = join.request
    if request is None:
        return frozenset()
    if join.api == "ConsumerGroupHeartbeat":
        return frozenset(request.subscribed_topic_names or ())
    try:
        return frozenset(topic for each in request.protocols for topic in read(ConsumerProtocolSubscription, bytes(each.metadata)).topics)
    except ProtocolError:
        return frozenset()


def inconsistent_protocols(history: WireHistory) -> Iterable[Finding]:
    """Finds clients that a group refuses, because its members have another protocol type or no assignor in common with them."""
    for client in history.clients:
        refused = [exchange for exchange, errors in client.failures if "INCONSISTENT_GROUP_PROTOCOL" in errors]
        if refused:
            group = ", ".join(refused[-1].groups)
            others = [
                each for other in history.clients for each in other.of(*_JOINS) if each.groups == refused[-1].groups and not each.errors
            ]
            present = f"; its members use {_protocols(others[-1])}" if others else ""
            problem = f"group {group} refused {counted(len(refused), 'request')}: the client offers {_protocols(refused[-1])}{present}"
            advice = f"{_OWN_GROUP_ID}; or let all members of the group have the same assignor and the same group.protocol"
            settings = ("group.id", "partition.assignment.strategy", "group.protocol")
            yield Finding("a clash of a group id", str(client), problem, advice, settings, evidence((*others[-1:], *refused)))


def _protocols(join: Exchange) -> str:
    """Returns the protocol type and the protocols that a member offers."""
    request: Any = join.request
    if join.api != "JoinGroup" or request is None:
        return "the consumer protocol"
    return f"{request.protocol_type} with {', '.join(each.name for each in request.protocols)}"


def repeated_instance_ids(history: WireHistory) -> Iterable[Finding]:
    """Finds static members that two running clients claim to be."""
    for client in history.clients:
        fenced = [exchange for exchange, errors in client.failures if _FENCED.intersection(errors)][-MAX_FENCED:]
        rivals = [(exchange, rival) for exchange in fenced if (rival := _rival(exchange, history)) is not None]
        if rivals:
            exchange, rival = rivals[-1]
            problem = f"two members of group {', '.join(exchange.groups)} have the group.instance.id {_instance_id(exchange)}"
            advice = "give each member an id of its own, such as the name of its host; with one id, they remove each other"
            entries = (*(rival for _, rival in rivals), *(exchange for exchange, _ in rivals))
            yield Finding("a clash of a group.instance.id", str(client), problem, advice, ("group.instance.id",), evidence(entries))


def _rival(fenced: Exchange, history: WireHistory) -> Exchange | None:
    """Returns the join of another member with the same id.

    A classic member that is fenced runs, so that the join shows its rival. In a group of KIP-848, the rival has to go on after the refusal:
    a member that has crashed keeps its id until its session expires.
    """
    own = getattr(fenced.partial_request, "member_id", "")
    for client in history.clients:
        for join in client.of(*_JOINS):
            same = (join.groups, _instance_id(join)) == (fenced.groups, _instance_id(fenced))
            if same and not join.errors and _member_id(join) != own and (fenced.api not in _HEARTBEAT or _goes_on(join, fenced, client)):
                return join
    return None


def _goes_on(join: Exchange, refused: Exchange, client: ClientHistory) -> bool:
    """Returns whether a member of KIP-848 has sent heartbeats after a request of another one was refused."""
    beats = [each for each in client.of(*_HEARTBEAT) if each.sequence > refused.sequence and not each.errors]
    return any(_member_id(each) == _member_id(join) for each in beats)


def _member_id(exchange: Exchange) -> str:
    answered: str = getattr(exchange.partial_response, "member_id", None) or ""
    return answered or getattr(exchange.partial_request, "member_id", "")


def _instance_id(exchange: Exchange) -> str:
    request = exchange.partial_request
    return getattr(request, "group_instance_id", None) or getattr(request, "instance_id", None) or ""
