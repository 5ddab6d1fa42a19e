"""Clients that share a group id, or the id of a static member, by mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

from ....protocol.schema import ProtocolError
from ....protocol.stored.consumer_protocol import ConsumerProtocolSubscription, read
from ...plurals import counted
from ..exchange import Exchange
from .finding import Finding, shown
from .history import Client, History
from .memberships import memberships_of

_HEARTBEAT = ("ConsumerGroupHeartbeat",)
_JOINS = ("JoinGroup", *_HEARTBEAT)
_FENCED = {"FENCED_INSTANCE_ID", "UNRELEASED_INSTANCE_ID"}
MAX_COMPARED, MAX_FENCED = 100, 5
"""The latest members of a group that are compared with each other, and the latest refusals for which a rival is looked for."""
_ADVICE = "give each application a group.id of its own"


class Subscriber(NamedTuple):
    """A member of a group with the topics to which it has subscribed last. `end` is the number of the entry with which it has left."""

    client: Client
    group: str
    join: Exchange
    end: float
    topics: frozenset[str]


def groups_with_other_topics(history: History) -> Iterable[Finding]:
    """Finds groups with two members at the same time that have no topic in common."""
    by_group: dict[str, list[Subscriber]] = {}
    for client in history.clients:
        for subscriber in _subscribers(client):
            by_group.setdefault(subscriber.group, []).append(subscriber)
    for group, subscribers in by_group.items():
        for first, second in combinations(subscribers[-MAX_COMPARED:], 2):
            if _are_together(first, second) and not first.topics & second.topics:
                problem = f"group {group} has members with other topics: {_wants(first)}, and {_wants(second)}"
                advice = f"{_ADVICE}; members of one group disturb each other by each rebalance, and share commits"
                yield Finding("a clash of a group id", str(second.client), problem, advice, ("group.id",), shown((first.join, second.join)))
                break


def _are_together(first: Subscriber, second: Subscriber) -> bool:
    return first.join.sequence < second.end and second.join.sequence < first.end


def _wants(subscriber: Subscriber) -> str:
    return f"{subscriber.client.name} subscribes to {', '.join(sorted(subscriber.topics))}"


def _subscribers(client: Client) -> Iterator[Subscriber]:
    closed = [each.closed.sequence for each in client.connections if each.closed is not None]
    gone = max(closed) if len(closed) == len(client.connections) else float("inf")
    for membership in memberships_of(client):
        topics = _topics(membership.last_join)
        if topics:
            end = gone if membership.ending is None else membership.ending.sequence
            yield Subscriber(client, membership.group, membership.last_join, end, topics)


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


def inconsistent_protocols(history: History) -> Iterable[Finding]:
    """Finds clients that a group refuses, because its members have another protocol type or no assignor in common with them."""
    for client in history.clients:
        refused = [exchange for exchange, errors in client.failed if "INCONSISTENT_GROUP_PROTOCOL" in errors]
        if refused:
            group = ", ".join(refused[-1].groups)
            others = [
                each for other in history.clients for each in other.of(*_JOINS) if each.groups == refused[-1].groups and not each.errors
            ]
            present = f"; its members use {_protocols(others[-1])}" if others else ""
            problem = f"group {group} refused {counted(len(refused), 'request')}: the client offers {_protocols(refused[-1])}{present}"
            advice = f"{_ADVICE}; or let all members of the group have the same assignor and the same group.protocol"
            settings = ("group.id", "partition.assignment.strategy", "group.protocol")
            yield Finding("a clash of a group id", str(client), problem, advice, settings, shown((*others[-1:], *refused)))


def _protocols(join: Exchange) -> str:
    """Returns the protocol type and the protocols that a member offers."""
    request: Any = join.request
    if join.api != "JoinGroup" or request is None:
        return "the consumer protocol"
    return f"{request.protocol_type} with {', '.join(each.name for each in request.protocols)}"


def repeated_instance_ids(history: History) -> Iterable[Finding]:
    """Finds static members that two running clients claim to be."""
    for client in history.clients:
        fenced = [exchange for exchange, errors in client.failed if _FENCED.intersection(errors)][-MAX_FENCED:]
        rivals = [(exchange, rival) for exchange in fenced if (rival := _rival(exchange, history)) is not None]
        if rivals:
            exchange, rival = rivals[-1]
            problem = f"two members of group {', '.join(exchange.groups)} have the group.instance.id {_instance_id(exchange)}"
            advice = "give each member an id of its own, such as the name of its host; with one id, they remove each other"
            entries = (*(rival for _, rival in rivals), *(exchange for exchange, _ in rivals))
            yield Finding("a clash of a group.instance.id", str(client), problem, advice, ("group.instance.id",), shown(entries))


def _rival(fenced: Exchange, history: History) -> Exchange | None:
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


def _goes_on(join: Exchange, refused: Exchange, client: Client) -> bool:
    """Returns whether a member of KIP-848 has sent heartbeats after a request of another one was refused."""
    beats = [each for each in client.of(*_HEARTBEAT) if each.sequence > refused.sequence and not each.errors]
    return any(_member_id(each) == _member_id(join) for each in beats)


def _member_id(exchange: Exchange) -> str:
    answered: str = getattr(exchange.partial_response, "member_id", None) or ""
    return answered or getattr(exchange.partial_request, "member_id", "")


def _instance_id(exchange: Exchange) -> str:
    request = exchange.partial_request
    return getattr(request, "group_instance_id", None) or getattr(request, "instance_id", None) or ""
