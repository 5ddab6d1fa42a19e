"""Classic groups: rebalances, static members, timeouts, limits, protocol votes, and every version of each request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.join_group import JOIN_GROUP
from odradek.protocol.messages.leave_group import LEAVE_GROUP
from odradek.protocol.messages.sync_group import SYNC_GROUP

from ..case import Case, Pause, Receive, Send, Step, all_versions
from ..group_requests import READS_ONE, TOPICS, ClassicMember, commit, delete_groups, delete_offsets, describe, fetch_offsets, leave


def cases() -> Iterator[Case]:
    for name, steps in (*versions(), *votes(), *members(), *static_members(), *timeouts(), *limits(), *names(), *coordinators()):
        yield Case(f"groups.{name}", TOPICS, steps)


Scripts = Iterator[tuple[str, tuple[Step, ...]]]


def versions() -> Scripts:
    """Yields scripts of a member that joins, stays and leaves, in every version of each request."""
    for version in all_versions(JOIN_GROUP):
        a = ClassicMember(f"groups.join.v{version}", "a")
        name = "range" if version >= 7 else None
        yield (
            f"join.v{version}",
            (*a.enter(version), a.sync(1, {"$a": b"x"}, version=5 if name else 4), a.join(version=version, waits=True)),
        )
        b = ClassicMember(a.group + ".two", "b")
        a = ClassicMember(b.group, "a")
        begin: tuple[Step, ...] = (
            *a.enter(),
            a.sync(1, {"$a": b"x"}),
            *b.enter(version, waits=True),
            a.heartbeat(1),
            a.join(version=version),
            Receive("b"),
        )
        yield f"join.v{version}.two", (*begin, a.sync(2, {"$a": b"x", "$b": b"y"}), b.sync(2))
        s = ClassicMember(f"groups.join.v{version}.static", "s", "i")
        yield (
            f"join.v{version}.static",
            (*s.enter(version), s.sync(1, {"$s": b"x"}), s.join("", version=version, waits=True), s.heartbeat(1)),
        )
    for version in all_versions(SYNC_GROUP):
        a = ClassicMember(f"groups.sync.v{version}", "a")
        yield (
            f"sync.v{version}",
            (*a.enter(), a.sync(1, {"$a": b"x"}, version=version), a.sync(1, version=version), a.sync(2, version=version)),
        )
    for version in all_versions(HEARTBEAT):
        a, s = ClassicMember(f"groups.heartbeat.v{version}", "a"), ClassicMember(f"groups.heartbeat.v{version}", "a", "i")
        beats = tuple(beat for member in (a, s) for beat in (member.heartbeat(1, version=version), member.heartbeat(2, version=version)))
        yield f"heartbeat.v{version}", (*a.enter(), *beats, a.sync(1, {"$a": b"x"}), *beats)
    for version in all_versions(LEAVE_GROUP):
        a, s = ClassicMember(f"groups.leave.v{version}", "a"), ClassicMember(f"groups.leave.v{version}.static", "s", "i")
        yield f"leave.v{version}", (*a.enter(), a.sync(1), a.leave(version), a.leave(version), describe(a.group))
        yield f"leave.v{version}.static", (*s.enter(), s.sync(1), s.leave(version), describe(s.group))


VOTES: dict[str, tuple[tuple[str, ...], ...]] = {
    "same": (("x", "y"), ("x", "y")),
    "against": (("x", "y"), ("y", "x")),
    "common": (("x", "y"), ("z", "y")),
    "none": (("x",), ("y",)),
    "majority": (("x", "y"), ("y", "x"), ("y", "x")),
    "last-common": (("x", "y", "z"), ("y", "z"), ("z", "y")),
    "leader-changes": (("x",), ("x", "y"), ("y", "x")),
    "cooperative": (("cooperative-sticky", "range"), ("range", "cooperative-sticky")),
    "twice": (("x", "x"), ("x",)),
}


def votes() -> Scripts:
    """Yields scripts that show which protocol is selected and which members are refused."""
    for name, preferences in VOTES.items():
        group = f"groups.votes.{name}"
        first, *others = [ClassicMember(group, f"member{number}") for number in range(len(preferences))]
        protocols = [dict.fromkeys(each, READS_ONE) for each in preferences]
        joined: tuple[Step, ...] = first.enter(protocols=protocols[0])
        for other, known in zip(others, protocols[1:], strict=True):
            joined += other.enter(protocols=known, waits=True)
        again = first.join(protocols=protocols[0], waits=True)
        answers = tuple(Receive(other.name) for other in others)
        yield f"votes.{name}", (*joined, again, *answers, describe(group), first.leave(), describe(group))
    a, b = ClassicMember("groups.votes.changes", "a"), ClassicMember("groups.votes.changes", "b")
    both = {"x": b"", "y": b""}
    yield (
        "votes.changes",
        (
            *a.enter(protocols=both),
            a.join(protocols={"y": b""}, waits=True),
            *b.enter(protocols={"x": b""}),
            *b.enter(protocols=both, waits=True),
        ),
    )


def members() -> Scripts:
    """Yields scripts of members that join, leave, wait and rejoin."""
    for name in ("leader-leaves", "follower-leaves", "leader-again", "follower-again", "both-leave", "gone-comes-back"):
        group = f"groups.members.{name}"
        a, b = ClassicMember(group, "a"), ClassicMember(group, "b")
        two = stable_with(a, b)
        ends: dict[str, tuple[Step, ...]] = {
            "leader-leaves": (a.leave(), b.heartbeat(2), b.join(), b.sync(3, {"$b": b"z"}), describe(group)),
            "follower-leaves": (b.leave(), a.heartbeat(2), a.join(), a.sync(3, {"$a": b"z"}), describe(group)),
            "leader-again": (a.join(waits=True), b.heartbeat(2), b.sync(2), b.join(), Receive("a"), a.sync(3), b.sync(3)),
            "follower-again": (
                b.join(),
                b.sync(2),
                b.join(protocols={"range": b"new"}, waits=True),
                a.heartbeat(2),
                a.join(),
                Receive("b"),
            ),
            "both-leave": (leave(group, ("$a", None), ("$b", None)), a.heartbeat(2), describe(group), delete_groups(group)),
            "gone-comes-back": (b.leave(), b.join(), a.join(), b.heartbeat(3), *b.enter(waits=True), a.join(), Receive("b")),
        }
        yield f"members.{name}", (*two, *ends[name])
    yield from waiting_members()


def waiting_members() -> Scripts:
    a, b, other = (ClassicMember("groups.waiting.twice", name) for name in ("a", "b", "other"))
    stable = (*a.enter(), a.sync(1, {"$a": b"x"}))
    yield "waiting.twice", (*stable, *b.enter(waits=True), other.join("$b", waits=True), a.join(), Receive("other"))
    a, b, other = (ClassicMember("groups.waiting.leaves", name) for name in ("a", "b", "other"))
    yield "waiting.leaves", (*stable_of(a), *b.enter(waits=True), leave(a.group, ("$b", None)), a.heartbeat(1), a.join(), describe(a.group))
    a, b = ClassicMember("groups.waiting.pending", "a"), ClassicMember("groups.waiting.pending", "b")
    yield "waiting.pending", (*stable_of(a), b.join(""), a.heartbeat(1), a.join(waits=True), b.leave(), Receive("a"), b.join())
    a, b = ClassicMember("groups.waiting.pending-comes", "a"), ClassicMember("groups.waiting.pending-comes", "b")
    yield "waiting.pending-comes", (*stable_of(a), b.join(""), a.join(waits=True), b.join(waits=True), Receive("a"), a.sync(2), b.sync(2))
    a, b = ClassicMember("groups.waiting.sync", "a"), ClassicMember("groups.waiting.sync", "b")
    two = (*stable_of(a), *b.enter(waits=True), a.join(), Receive("b"), b.sync(2, waits=True))
    yield "waiting.sync", (*two, a.sync(2, {"$b": b"y", "unknown": b"z"}), Receive("b"), a.sync(2), describe(a.group))
    a, b, c = (ClassicMember("groups.waiting.sync-interrupted", name) for name in "abc")
    two = (*stable_of(a), *b.enter(waits=True), a.join(), Receive("b"), b.sync(2, waits=True))
    yield "waiting.sync-interrupted", (*two, *c.enter(waits=True), Receive("b"), a.sync(2), a.heartbeat(2), describe(a.group))
    a, b = ClassicMember("groups.waiting.completing-again", "a"), ClassicMember("groups.waiting.completing-again", "b")
    joined = (*stable_of(a), *b.enter(waits=True), a.join(), Receive("b"))
    changed = b.join(protocols={"range": b"new"}, waits=True)
    yield "waiting.completing-again", (*joined, b.join(), a.join(), changed, a.heartbeat(2), a.sync(2), a.join(), Receive("b"))


def stable_of(member: ClassicMember) -> tuple[Step, ...]:
    return (*member.enter(), member.sync(1, {member.id: b"x"}))


def stable_with(leader: ClassicMember, other: ClassicMember) -> tuple[Step, ...]:
    """Returns the steps after which both are members in generation 2."""
    assignments = {leader.id: b"x", other.id: b"y"}
    joined = (*stable_of(leader), *other.enter(waits=True), leader.join(), Receive(other.name))
    return (*joined, leader.sync(2, assignments), other.sync(2))


def static_members() -> Scripts:
    for version, end in product((8, 9), ("", ".protocols", ".changed")):
        group = f"groups.static.leader.v{version}{end}"
        s, t, b = ClassicMember(group, "s", "i"), ClassicMember(group, "t", "i"), ClassicMember(group, "b")
        two = stable_with(s, b)
        protocols = {"": None, ".protocols": {"range": READS_ONE, "new": b""}, ".changed": {"range": b"changed"}}[end]
        again = t.join("", version=version, protocols=protocols, waits=True)
        old = (s.heartbeat(2), s.sync(2), s.commit(2), s.leave(), s.join(waits=True))
        yield f"static.leader.v{version}{end}", (*two, again, t.sync(2, {"$t": b"z"}), t.heartbeat(2), *old, describe(group))
        follower = group.replace("leader", "follower")
        s, t, a = ClassicMember(follower, "s", "i"), ClassicMember(follower, "t", "i"), ClassicMember(follower, "a")
        two = (*stable_of(a), *s.enter(waits=True), a.join(), Receive("s"), a.sync(2, {"$s": b"x", "$a": b"y"}), s.sync(2))
        again = t.join("", version=version, protocols=protocols, waits=True)
        yield f"static.follower.v{version}{end}", (*two, again, t.sync(2), a.heartbeat(2), s.heartbeat(2), describe(follower))
    yield from static_in_rebalances()


def static_in_rebalances() -> Scripts:
    s, t, b = (
        ClassicMember("groups.static.preparing", "s", "i"),
        ClassicMember("groups.static.preparing", "t", "i"),
        ClassicMember("groups.static.preparing", "b"),
    )
    yield (
        "static.preparing",
        (*stable_of(s), *b.enter(waits=True), t.join("", waits=True), Receive("b"), s.join(waits=True), describe(s.group)),
    )
    s, t, b = (
        ClassicMember("groups.static.waiting", "s", "i"),
        ClassicMember("groups.static.waiting", "t", "i"),
        ClassicMember("groups.static.waiting", "b"),
    )
    yield "static.waiting", (*stable_of(b), *s.enter(waits=True), t.join("", waits=True), Receive("s"), b.join(), Receive("t"))
    s, t = ClassicMember("groups.static.completing", "s", "i"), ClassicMember("groups.static.completing", "t", "i")
    yield "static.completing", (*s.enter(), t.join("", waits=True), t.sync(2, {"$t": b"x"}), s.sync(2), s.heartbeat(1), describe(s.group))
    s, t, b = (ClassicMember("groups.static.syncing", name, each) for name, each in (("s", "i"), ("t", "i"), ("b", None)))
    two = (*stable_of(b), *s.enter(waits=True), b.join(), Receive("s"), s.sync(2, waits=True))
    yield "static.syncing", (*two, t.join("", waits=True), Receive("s"), b.sync(2), describe(b.group))
    s, t = ClassicMember("groups.static.two", "s", "i"), ClassicMember("groups.static.two", "t", "j")
    both = (*stable_of(s), *t.enter(waits=True), s.join(), Receive("t"), s.sync(2, {"$s": b"x", "$t": b"y"}), t.sync(2))
    gone = leave(s.group, ("", "j"), ("", "k"), ("$s", "j"), ("$t", "i"))
    yield "static.two", (*both, gone, t.heartbeat(2), s.heartbeat(2), s.join(), t.enter()[0]._replace(waits=True))
    s, t = ClassicMember("groups.static.gone", "s", "i"), ClassicMember("groups.static.gone", "t", "i")
    yield "static.gone", (*stable_of(s), s.leave(), s.heartbeat(1), *t.enter(), describe(s.group))
    s = ClassicMember("groups.static.empty-instance", "s", "")
    yield "static.empty-instance", (*s.enter(), s.sync(1), s.heartbeat(1), describe(s.group))


def timeouts() -> Scripts:
    """Yields scripts in which silent members are removed. Timeouts are short, because a recording waits for them."""
    a = ClassicMember("groups.timeout.session", "a")
    yield "timeout.session", (*a.enter(session_ms=150), a.sync(1), a.heartbeat(1), Pause(400), a.heartbeat(1), describe(a.group))
    a, b = ClassicMember("groups.timeout.session-of-two", "a"), ClassicMember("groups.timeout.session-of-two", "b")
    two = (*stable_of(a), *b.enter(session_ms=300, waits=True), a.join(), Receive("b"), a.sync(2), b.sync(2))
    yield "timeout.session-of-two", (*two, Pause(600), a.heartbeat(2), b.heartbeat(2), a.join(), describe(a.group))
    s = ClassicMember("groups.timeout.static", "s", "i")
    yield "timeout.static", (*s.enter(session_ms=150), s.sync(1), Pause(400), s.heartbeat(1), describe(s.group))
    a = ClassicMember("groups.timeout.pending", "a")
    yield "timeout.pending", (a.join("", session_ms=150), Pause(400), a.join(), describe(a.group))
    a, b = ClassicMember("groups.timeout.rebalance", "a"), ClassicMember("groups.timeout.rebalance", "b")
    late: tuple[Step, ...] = (
        *a.enter(rebalance_ms=300),
        a.sync(1),
        *b.enter(rebalance_ms=300, waits=True),
        Receive("b"),
        a.heartbeat(1),
        describe(a.group),
    )
    yield "timeout.rebalance", late
    a, b = ClassicMember("groups.timeout.sync", "a"), ClassicMember("groups.timeout.sync", "b")
    yield "timeout.sync", (*a.enter(rebalance_ms=200), Pause(450), a.heartbeat(1), a.sync(1), describe(a.group))
    a, b = ClassicMember("groups.timeout.sync-of-one", "a"), ClassicMember("groups.timeout.sync-of-one", "b")
    short: tuple[Step, ...]
    short = (*a.enter(rebalance_ms=300), a.sync(1), *b.enter(rebalance_ms=300, waits=True), a.join(rebalance_ms=300), Receive("b"))
    yield "timeout.sync-of-one", (*short, a.sync(2), Pause(450), a.heartbeat(2), b.heartbeat(2), describe(a.group))
    a, b = ClassicMember("groups.timeout.sync-without-leader", "a"), ClassicMember("groups.timeout.sync-without-leader", "b")
    short = (*a.enter(rebalance_ms=300), a.sync(1), *b.enter(rebalance_ms=300, waits=True), a.join(rebalance_ms=300), Receive("b"))
    yield "timeout.sync-without-leader", (*short, b.sync(2, waits=True), Receive("b"), a.heartbeat(2), b.heartbeat(2), describe(a.group))
    s, b = ClassicMember("groups.timeout.static-rebalance", "s", "i"), ClassicMember("groups.timeout.static-rebalance", "b")
    late = (*s.enter(rebalance_ms=300), s.sync(1), *b.enter(rebalance_ms=300, waits=True), Receive("b"), b.sync(2), s.heartbeat(1))
    yield "timeout.static-rebalance", (*late, s.heartbeat(2), describe(s.group))


def limits() -> Scripts:
    for session_ms in (-1, 0, 99, 100, 1_800_000, 1_800_001, (1 << 31) - 1):
        a = ClassicMember(f"groups.session.{session_ms}", "a")
        yield f"session.{session_ms}", (a.join("", version=3, session_ms=session_ms), a.join("", session_ms=session_ms))
    for rebalance_ms in (-1, 0, (1 << 31) - 1):
        a = ClassicMember(f"groups.rebalance.{rebalance_ms}", "a")
        yield f"rebalance.{rebalance_ms}", (*a.enter(3, rebalance_ms=rebalance_ms),)
    group = "groups.size"
    a, b, c, d = (ClassicMember(group, name) for name in "abcd")
    full = (*stable_of(a), *b.enter(waits=True), *c.enter(waits=True))
    yield (
        "size",
        (*full, *d.enter(waits=True), d.join("", version=3), a.join(), *d.enter(), describe(group), c.leave(), *d.enter(waits=True)),
    )
    a, b, c, d = (ClassicMember("groups.size.pending", name) for name in "abcd")
    yield "size.pending", (*stable_of(a), b.join(""), c.join(""), d.join(""), b.join(waits=True), c.join(waits=True), d.join(waits=True))
    a, b, c, d = (ClassicMember("groups.size.static", name, name) for name in "abcd")
    yield (
        "size.static",
        (*stable_of(a), *b.enter(waits=True), *c.enter(waits=True), *d.enter(waits=True), ClassicMember(a.group, "e", "b").enter()[0]),
    )


def names() -> Scripts:
    """Yields scripts with unusual names of groups and clients."""
    for name, group in (
        ("empty", ""),
        ("space", " "),
        ("unicode", "grüße ✓"),
        ("long", "g" * 5000),
        ("slash", "../x"),
        ("newline", "a\nb"),
    ):
        a = ClassicMember(group, "a")
        requests = (
            *a.enter(),
            *ClassicMember("", "b").enter(3),
            a.sync(1),
            a.heartbeat(1),
            a.commit(1),
            fetch_offsets(group),
            delete_offsets(group, {"x": [0]}),
        )
        yield (
            f"name.{name}",
            (*requests, a.leave(), a.leave(2), commit(group), describe(group), describe(group, version=5), delete_groups(group)),
        )
    for version in all_versions(JOIN_GROUP):
        a = ClassicMember("", "a")
        yield (
            f"name.empty.v{version}",
            (a.join("", version=version), a.join("x", version=version), a.join("", version=version, session_ms=0)),
        )
    for client_id in (None, "", "with space", "ü"):
        a = ClassicMember(f"groups.client.{client_id}", "a")
        one = (step._replace(client_id=client_id) for step in a.enter())
        yield f"client.{client_id}", (*one, describe(a.group))
    a = ClassicMember("groups.big", "a")
    yield "big", (*a.enter(protocols={"range": bytes(20_000)}), a.sync(1, {"$a": bytes(30_000)}), describe(a.group))


def coordinators() -> Scripts:
    """Yields scripts that find coordinators, and requests to nodes that are not the coordinator."""
    for version, key_type in product(all_versions(FIND_COORDINATOR), (0, 1, 3, -1)):
        request = FindCoordinatorRequest(key="g", key_type=key_type, coordinator_keys=["g", "", "h"])
        yield (
            f"coordinator.v{version}.{key_type}",
            (Send(FIND_COORDINATOR, version, request), Send(FIND_COORDINATOR, version, request, node=2)),
        )
    yield "coordinator.no-keys", (Send(FIND_COORDINATOR, 6, FindCoordinatorRequest(key_type=0, coordinator_keys=[])),)
    a = ClassicMember("groups.elsewhere", "a")
    requests: list[Send] = [a.join("", version=version) for version in all_versions(JOIN_GROUP)]
    requests += [a.sync(1, version=version) for version in all_versions(SYNC_GROUP)]
    requests += [a.heartbeat(1, version=version) for version in all_versions(HEARTBEAT)]
    requests += [a.leave(version) for version in all_versions(LEAVE_GROUP)]
    requests += [
        a.commit(1),
        commit(a.group),
        fetch_offsets(a.group),
        fetch_offsets(a.group, version=5),
        fetch_offsets(a.group, {}, version=1),
    ]
    requests += [
        delete_offsets(a.group, {"groups-one": [0]}),
        describe(a.group),
        describe(a.group, version=0),
        delete_groups(a.group, "other"),
    ]
    empty = HeartbeatRequest(group_id="", generation_id=1, member_id="")
    requests += [
        Send(HEARTBEAT, 4, empty),
        *ClassicMember("", "a").enter(3),
        ClassicMember("", "a").sync(1),
        ClassicMember("", "a").leave(),
    ]
    yield "elsewhere", tuple(request._replace(node=2) for request in requests)
