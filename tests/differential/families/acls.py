"""Access control: the answers of each API to clients with a single right and with all rights but one, and the APIs for ACLs.

Clients are distinguished by their source addresses. Brokers and set-up requests use 127.0.0.1, which has all rights.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from odradek.broker.security.acls import CLUSTER_NAME, Operation, ResourceType
from odradek.broker.settings.types import STANDARD_AUTHORIZER
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT
from odradek.protocol.messages.create_acls import CREATE_ACLS
from odradek.protocol.messages.delete_acls import DELETE_ACLS
from odradek.protocol.messages.describe_acls import DESCRIBE_ACLS
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID
from odradek.protocol.messages.offset_commit import OFFSET_COMMIT
from odradek.protocol.messages.streams_group_heartbeat import STREAMS_GROUP_HEARTBEAT

from ..case import LOCALHOST, Case, Send, Topic, all_versions
from ..requests import batch_of, produce, request_of
from . import share_acl_requests
from .acl_requests import OTHER, SHARED, GuardedRequest, requests, streams_heartbeat

SETTINGS = {
    "authorizer.class.name": STANDARD_AUTHORIZER,
    "allow.everyone.if.no.acl.found": "true",
    "group.streams.initial.rebalance.delay.ms": "0",
}
DENY, ALLOW = 2, 3
LITERAL, PREFIXED = 3, 4
RIGHTS = {
    ResourceType.TOPIC: range(3, 12),
    ResourceType.GROUP: (3, 6, 8, 10, 11),
    ResourceType.CLUSTER: (5, 6, 7, 8, 9, 10, 11, 12),
    ResourceType.TRANSACTIONAL_ID: (4, 8),
}
"""The operations that can affect an answer, by resource type."""

HOST_WITHOUT_RIGHTS, HOST_WITH_ALL_RIGHTS = "127.4.0.1", "127.4.0.2"
Entry = dict[str, object]


def cases() -> Iterator[Case]:
    yield Case("acls.set-up", (Topic(SHARED), Topic(OTHER)), tuple(_set_up()))
    yield Case("acls.share.set-up", (Topic(SHARED), Topic(OTHER)), (), tuple(share_acl_requests.set_up(SHARED, OTHER)))
    for guarded in requests():
        for name, host in _clients(guarded):
            case = f"acls.{guarded.name}.{name}"
            topics = (Topic(case), Topic(SHARED), Topic(OTHER)) if guarded.own_topic else (Topic(SHARED), Topic(OTHER))
            request = request_of(guarded.api, guarded.fields(case))
            yield Case(case, topics, (Send(guarded.api, guarded.version, request, host=host),))
    yield from _decisions()
    yield from _entries()


def entry(
    kind: int, name: str, operation: int, permission: int = ALLOW, host: str = "*", pattern: int = LITERAL, user: str = "User:ANONYMOUS"
) -> Entry:
    resource = {"resource_type": kind, "resource_name": name, "resource_pattern_type": pattern}
    return {**resource, "principal": user, "host": host, "operation": operation, "permission_type": permission}


def create(*entries: Entry, version: int = 3) -> Send:
    return Send(CREATE_ACLS, version, request_of(CREATE_ACLS, {"creations": list(entries)}), settles=True)


def _set_up() -> Iterator[Send]:
    everything = [(kind, CLUSTER_NAME if kind is ResourceType.CLUSTER else "*") for kind in RIGHTS]
    entries = [entry(kind, name, Operation.ALL, host=host) for host in (LOCALHOST, HOST_WITH_ALL_RIGHTS) for kind, name in everything]
    for kind, name in everything:
        for operation in RIGHTS[kind]:
            entries.append(entry(kind, name, operation, host=_with(kind, operation)))
            entries += [entry(each, its_name, Operation.ALL, host=_without(kind, operation)) for each, its_name in everything]
            entries.append(entry(kind, name, operation, DENY, host=_without(kind, operation)))
    yield create(*entries)
    yield produce(SHARED, batch_of(b"a"))
    partitions = [{"partition_index": 0, "committed_offset": 1, "committed_metadata": None}]
    topics = [{"name": name, "partitions": partitions} for name in (SHARED, OTHER)]
    yield Send(OFFSET_COMMIT, 9, request_of(OFFSET_COMMIT, {"group_id": "committed", "member_id": "", "topics": topics}))
    known = {"transactional_id": "known", "transaction_timeout_ms": 60_000}
    yield Send(INIT_PRODUCER_ID, 5, request_of(INIT_PRODUCER_ID, known))
    beat = {"group_id": "consuming", "member_id": "m", "member_epoch": 0, "rebalance_timeout_ms": 600_000}
    fields = {**beat, "topic_partitions": [], "subscribed_topic_names": [SHARED]}
    yield Send(CONSUMER_GROUP_HEARTBEAT, 1, request_of(CONSUMER_GROUP_HEARTBEAT, fields))
    yield Send(STREAMS_GROUP_HEARTBEAT, 0, request_of(STREAMS_GROUP_HEARTBEAT, streams_heartbeat("streaming", SHARED)))


def _with(kind: ResourceType, operation: int) -> str:
    return f"127.2.{kind}.{operation}"


def _without(kind: ResourceType, operation: int) -> str:
    return f"127.3.{kind}.{operation}"


def _clients(guarded: GuardedRequest) -> Iterator[tuple[str, str]]:
    """Yields names and addresses of clients without any right, with all rights, with one right, and with all rights but one."""
    yield "nobody", HOST_WITHOUT_RIGHTS
    yield "anybody", HOST_WITH_ALL_RIGHTS
    for kind in guarded.types:
        for operation in RIGHTS[kind]:
            name = f"{kind.name.lower()}-{Operation(operation).name.lower()}"
            yield f"with.{name}", _with(kind, operation)
            yield f"without.{name}", _without(kind, operation)


def _decisions() -> Iterator[Case]:
    """Yields cases that show which entries decide about a resource."""
    guest = "127.5.0.1"
    produced = batch_of(b"a")

    def case(name: str, *entries: tuple[int, int, int, str]) -> Case:
        topic = f"acls.decided.{name}"
        made = [
            entry(ResourceType.TOPIC, topic[: len(topic) + cut], 4, permission, host, pattern) for pattern, cut, permission, host in entries
        ]
        return Case(topic, (Topic(topic),), (create(*made), produce(topic, produced)._replace(host=guest)))

    for permission, (word, pattern, cut) in product(
        (ALLOW, DENY), (("literal", LITERAL, 0), ("prefixed", PREFIXED, -2), ("whole", PREFIXED, 0))
    ):
        verb = "allow" if permission == ALLOW else "deny"
        yield case(f"{verb}.{word}", (pattern, cut, permission, guest))
        yield case(f"{verb}.{word}.any-host", (pattern, cut, permission, "*"))
        yield case(f"{verb}.{word}.other-host", (pattern, cut, permission, "127.5.0.2"))
    yield case("deny-beats-allow", (LITERAL, 0, ALLOW, guest), (PREFIXED, -3, DENY, guest))
    yield case("deny-beats-longer-allow", (PREFIXED, -3, DENY, "*"), (PREFIXED, 0, ALLOW, guest))
    yield case("literal-is-whole", (LITERAL, -1, ALLOW, guest))


def _entries() -> Iterator[Case]:
    for version in all_versions(CREATE_ACLS):
        name = f"acls.entries.v{version}"
        yield Case(name, (), tuple(_life_of_entries(name, version)))
        for kind, pattern, operation, permission in _odd_entries():
            fields = entry(kind, f"{name}.odd", operation, permission, pattern=pattern)
            case = f"acls.odd.v{version}.{kind}-{pattern}-{operation}-{permission}"
            yield Case(case, (), (create(fields, version=version),))
        others = (("no-name", entry(ResourceType.TOPIC, "", 3)), ("cluster-name", entry(ResourceType.CLUSTER, "x", 3)))
        users = ("", "nobody", "Group:g", "User:", "User:a:b", ":a")
        for word, fields in (*others, *((f"user.{user}", entry(ResourceType.TOPIC, f"{name}.user", 3, user=user)) for user in users)):
            yield Case(f"acls.odd.v{version}.{word}", (), (create(fields, version=version),))


def _odd_entries() -> Iterator[tuple[int, int, int, int]]:
    for kind in (0, 1, 6, 7, 8, -1, 99):
        yield kind, LITERAL, 3, ALLOW
    for pattern in (0, 1, 2, 5, -1):
        yield 2, pattern, 3, ALLOW
    for operation in (0, 1, 2, 13, 14, 15, 16, -1):
        yield 2, LITERAL, operation, ALLOW
    for permission in (0, 1, 4, -1):
        yield 2, LITERAL, 3, permission


def _life_of_entries(name: str, version: int) -> Iterator[Send]:
    """Yields requests that create entries, find them by all kinds of filters, and delete them."""
    literal, prefixed = (
        entry(ResourceType.TOPIC, f"{name}.a", 3),
        entry(ResourceType.TOPIC, f"{name}.", 4, DENY, "10.0.0.1", PREFIXED, "User:b"),
    )
    group = entry(ResourceType.GROUP, f"{name}.a", 8, user="User:b")
    yield create(literal, prefixed, group, literal, entry(ResourceType.TOPIC, "", 3), version=version)
    yield create(literal, version=version)
    for fields in _filters(name):
        yield Send(DESCRIBE_ACLS, version, request_of(DESCRIBE_ACLS, fields))
    gone = [_filter(2, f"{name}.a"), _filter(2, f"{name}.a"), _filter(99, f"{name}.a"), _filter(2, f"{name}.b")]
    for filters in (gone, [_filter(1, f"{name}.a", 2, user="User:b")], [_filter(1, f"{name}.", 1)], []):
        yield Send(DELETE_ACLS, version, request_of(DELETE_ACLS, {"filters": filters}), settles=True)
        yield Send(DESCRIBE_ACLS, version, request_of(DESCRIBE_ACLS, _filter(1, f"{name}.a", 2, user="User:b")))


def _filter(
    kind: int,
    name: str | None,
    pattern: int = LITERAL,
    user: str | None = None,
    host: str | None = None,
    operation: int = 1,
    permission: int = 1,
) -> Entry:
    resource = {"resource_type_filter": kind, "resource_name_filter": name, "pattern_type_filter": pattern}
    return {**resource, "principal_filter": user, "host_filter": host, "operation": operation, "permission_type": permission}


def _filters(name: str) -> Iterator[Entry]:
    for kind, pattern in product((1, 2, 3, 7, 99), (1, 2, 3, 4, 99)):
        yield _filter(kind, f"{name}.a", pattern, user="User:b")
    for pattern in (1, 3, 4):
        yield _filter(2, f"{name}.", pattern)
    for user in ("User:ANONYMOUS", "User:b", "User:*", "b", ""):
        yield _filter(2, f"{name}.a", user=user)
    for host in ("*", "10.0.0.1", LOCALHOST, ""):
        yield _filter(1, f"{name}.", PREFIXED, host=host)
    for operation, permission in product((2, 3, 4, 8, 99), (1, 2, 3, 99)):
        yield _filter(1, f"{name}.a", operation=operation, permission=permission)
    yield _filter(2, None, 4, user="User:b")
    yield _filter(0, f"{name}.a")
