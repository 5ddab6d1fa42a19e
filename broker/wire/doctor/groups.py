"""Members that lose their groups: time-outs that are shorter than the processing of records, and rebalance storms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ...plurals import counted
from ..exchange import Entry
from .finding import Finding, densest, shown, span_s
from .history import Client, History, families
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


def short_time_outs(history: History) -> Iterable[Finding]:
    """Finds members that a group removed, or that left, because processing took longer than a time-out of theirs."""
    for client in history.clients:
        memberships = [each for each in memberships_of(client) if not _is_excused(each, history)]
        for expired in [each for each in memberships if each.has_expired]:
            yield _expired(client, expired)
        for late in _late(memberships):
            yield _polled_late(client, late)


def _is_excused(membership: Membership, history: History) -> bool:
    """Returns whether a membership has ended after a fault or a disturbance."""
    return membership.ending is not None and history.excuses(membership.last, membership.ending)


def _expired(client: Client, membership: Membership) -> Finding:
    silence, limit = span_s(0, membership.silence_ms), membership.session_timeout_ms
    problem = f"a member of group {membership.group} was silent for {silence}, so its session of {limit} ms expired"
    advice = "raise the session time-out above the longest pause, or do not block the thread that sends heartbeats"
    settings = ("session.timeout.ms", "heartbeat.interval.ms", "max.poll.records")
    return Finding("a session time-out shorter than processing", str(client), problem, advice, settings, _shown(membership))


def _polled_late(client: Client, membership: Membership) -> Finding:
    limit = membership.poll_timeout_ms
    problem = f"a member of group {membership.group} left it, because its program did not poll within {limit} ms"
    advice = "raise the limit above the longest processing of one batch, or take fewer records with each poll"
    settings = ("max.poll.interval.ms", "max.poll.records")
    return Finding("a session time-out shorter than processing", str(client), problem, advice, settings, _shown(membership))


def _late(memberships: Sequence[Membership]) -> list[Membership]:
    """Returns the members that polled late and came back, which a consumer that is closed does not."""
    return [
        each
        for number, each in enumerate(memberships)
        if each.polled_late and any(other.group == each.group for other in memberships[number + 1 :])
    ]


def _shown(membership: Membership) -> tuple[Entry, ...]:
    return shown(each for each in (membership.first, membership.last, membership.ending) if each is not None)


def rebalance_storms(history: History) -> Iterable[Finding]:
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
                yield Finding("rebalance storm", str(client), problem, advice, settings, shown(entries))


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
