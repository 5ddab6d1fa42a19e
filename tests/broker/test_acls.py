"""The authorizer's decisions. What each API asks of it is compared with Apache Kafka by the family `acls` of the differential tests."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from odradek.broker.security.acls import (
    OPERATIONS,
    Acl,
    AclFilter,
    Authorizer,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    authorizer_of,
)
from odradek.broker.settings.rows import STANDARD_AUTHORIZER
from odradek.broker.settings.values import BrokerConfig, InvalidConfig
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest
from odradek.protocol.messages.create_acls import CREATE_ACLS, AclCreation, CreateAclsRequest
from odradek.protocol.messages.delete_topics import DELETE_TOPICS, DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.messages.describe_transactions import DESCRIBE_TRANSACTIONS, DescribeTransactionsRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import World, a_batch, produce_request

ALICE, HERE = "User:alice", "10.0.0.1"
DENY, ALLOW = Permission.DENY, Permission.ALLOW
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
AUTHORIZED = {"authorizer.class.name": STANDARD_AUTHORIZER}


def acl(name: str = "orders", operation: Operation = Operation.READ, permission: Permission = ALLOW, **fields: Any) -> Acl:
    return Acl(ResourceType.TOPIC, name, LITERAL, ALICE, "*", operation, permission)._replace(**fields)


def authorizer(*acls: Acl, **options: Any) -> Authorizer:
    made = Authorizer(**options)
    for each in acls:
        made.add(each)
    return made


def allows(made: Authorizer, operation: Operation = Operation.READ, name: str = "orders", user: str = ALICE) -> bool:
    return made.allows(user, HERE, operation, ResourceType.TOPIC, name)


def test_without_an_acl_the_setting_decides() -> None:
    assert not allows(authorizer())
    assert allows(authorizer(allow_everyone_if_no_acl_found=True))
    other = authorizer(acl(principal="User:bob"), allow_everyone_if_no_acl_found=True)
    assert not allows(other)
    assert allows(other, name="payments")


def test_super_users_may_do_all() -> None:
    made = authorizer(acl(permission=DENY), super_users=[ALICE])
    assert allows(made)
    assert not allows(made, user="User:bob")


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [
        (acl(), True),
        (acl("*"), True),
        (acl("order"), False),
        (acl("ord", pattern_type=PREFIXED), True),
        (acl("orders", pattern_type=PREFIXED), True),
        (acl("orders2", pattern_type=PREFIXED), False),
        (acl("*", pattern_type=PREFIXED), False),
        (acl(principal="User:*"), True),
        (acl(principal="User:bob"), False),
        (acl(principal="Group:alice"), False),
        (acl(host=HERE), True),
        (acl(host="10.0.0.2"), False),
        (acl(operation=Operation.ALL), True),
        (acl(operation=Operation.WRITE), False),
        (acl(resource_type=ResourceType.GROUP), False),
    ],
)
def test_what_an_entry_covers(entry: Acl, allowed: bool) -> None:
    assert allows(authorizer(entry)) is allowed
    denied = entry._replace(permission=DENY)
    assert allows(authorizer(acl(), denied)) is not allowed, "one entry that denies outweighs all that allow"


IMPLIED = [(Operation.DESCRIBE, each) for each in (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)] + [
    (Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)
]


@pytest.mark.parametrize(("operation", "given"), list(product(OPERATIONS[ResourceType.TOPIC], OPERATIONS[ResourceType.TOPIC])))
def test_allowing_implies_and_denying_does_not(operation: Operation, given: Operation) -> None:
    assert allows(authorizer(acl(operation=given)), operation) is (operation == given or (operation, given) in IMPLIED)
    everything = acl(operation=Operation.ALL)
    assert allows(authorizer(everything, acl(operation=given, permission=DENY)), operation) is (operation != given)


@pytest.mark.parametrize(
    ("acls", "allowed"),
    [
        ([], False),
        ([acl()], True),
        ([acl("*")], True),
        ([acl("a", pattern_type=PREFIXED)], True),
        ([acl(operation=Operation.WRITE)], False),
        ([acl(), acl(permission=DENY)], False),
        ([acl(), acl("ord", pattern_type=PREFIXED, permission=DENY)], False),
        ([acl(), acl("orders2", permission=DENY)], True),
        ([acl("o", pattern_type=PREFIXED), acl("o", permission=DENY)], True),
        ([acl("o", pattern_type=PREFIXED), acl("o", pattern_type=PREFIXED, permission=DENY)], False),
        ([acl("*"), acl("o", pattern_type=PREFIXED, permission=DENY)], True),
        ([acl(), acl("*", permission=DENY)], False),
        ([acl(host="10.0.0.2")], False),
    ],
)
def test_whether_there_is_anything_that_is_allowed(acls: list[Acl], allowed: bool) -> None:
    assert authorizer(*acls).allows_somewhere(ALICE, HERE, Operation.READ, ResourceType.TOPIC) is allowed


def test_anything_may_be_allowed_where_nothing_is_said() -> None:
    assert authorizer(allow_everyone_if_no_acl_found=True).allows_somewhere(ALICE, HERE, Operation.READ, ResourceType.TOPIC)
    assert authorizer(acl("*", permission=DENY), super_users=[ALICE]).allows_somewhere(ALICE, HERE, Operation.READ, ResourceType.TOPIC)


EVERY = AclFilter(ResourceType.ANY, None, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)


def test_filters_and_removal() -> None:
    entries = [
        acl(),
        acl("*", operation=Operation.WRITE),
        acl("ord", pattern_type=PREFIXED),
        acl("g", resource_type=ResourceType.GROUP, host=HERE),
    ]
    made = authorizer(*entries, entries[0])
    assert made.find(EVERY) == entries
    assert made.find(EVERY._replace(resource_name="orders")) == entries[:1]
    assert made.find(EVERY._replace(resource_name="orders", pattern_type=PatternType.MATCH)) == entries[:3]
    assert made.find(EVERY._replace(pattern_type=PatternType.MATCH)) == entries
    assert made.find(EVERY._replace(pattern_type=PREFIXED)) == entries[2:3]
    assert made.find(EVERY._replace(host=HERE)) == entries[3:]
    assert made.find(EVERY._replace(principal="User:bob")) == []
    made.remove([entries[1], entries[1], acl("nothing")])
    assert made.find(EVERY) == [entries[0], *entries[2:]]


@pytest.mark.parametrize(
    "entry",
    [
        acl(""),
        acl("any", resource_type=ResourceType.CLUSTER),
        acl(principal="alice"),
        acl(resource_type=ResourceType(99)),
        acl(pattern_type=PatternType(-1)),
        acl(operation=Operation(99)),
        acl(permission=Permission(4)),
    ],
)
def test_what_is_no_entry(entry: Acl) -> None:
    with pytest.raises(KafkaError) as raised:
        authorizer(entry)
    assert raised.value.code is ErrorCode.INVALID_REQUEST


def configured(settings: Mapping[str, str]) -> Authorizer | None:
    return authorizer_of(BrokerConfig(settings))


def test_the_settings() -> None:
    assert configured({"super.users": ALICE}) is None
    made = configured(AUTHORIZED | {"super.users": f"{ALICE}; User:b;", "allow.everyone.if.no.acl.found": "TRUE"})
    assert made is not None
    assert made.super_users == {ALICE, "User:b"}
    assert allows(made, user="User:c")
    closed = configured(AUTHORIZED)
    assert closed is not None
    assert not allows(closed)
    with pytest.raises(InvalidConfig):
        configured({"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"})


def test_what_was_allowed_may_be_denied_between_two_requests_of_one_connection() -> None:
    world = World(settings=AUTHORIZED | {"allow.everyone.if.no.acl.found": "true"})
    world.cluster.create_topic("t", 1)
    client = world.leader_of("t")
    request = produce_request("t", a_batch(b"a"))

    def errors() -> list[int]:
        return [partition.error_code for topic in client.call(PRODUCE, 9, request).responses for partition in topic.partition_responses]

    assert errors() == errors() == [0]
    denied = AclCreation(resource_type=2, resource_name="t", principal="User:*", host="*", operation=4, permission_type=2)
    client.call(CREATE_ACLS, 3, CreateAclsRequest(creations=[denied]))
    assert errors() == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]


def test_a_transaction_is_described_without_the_topics_that_are_secret() -> None:
    world = World(nodes=1, settings=AUTHORIZED | {"allow.everyone.if.no.acl.found": "true"})
    for name in ("open", "secret"):
        world.cluster.create_topic(name, 1)
    world.cluster.ensure_internal("__transaction_state")
    client = world.client()
    client.call(INIT_PRODUCER_ID, 4, InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000))
    transaction = world.cluster.transactions.get("t")
    assert transaction is not None
    for name in ("open", "secret"):
        client.call(PRODUCE, 12, produce_in_transaction(name, *transaction.producer))
    assert world.cluster.authorizer is not None
    world.cluster.authorizer.add(acl("secret", Operation.DESCRIBE, DENY, principal="User:*"))
    (described,) = client.call(DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(transactional_ids=["t"])).transaction_states
    assert [topic.topic for topic in described.topics] == ["open"]


def produce_in_transaction(topic: str, producer_id: int, epoch: int) -> Any:
    batch = a_batch(b"a", producer_id=producer_id, producer_epoch=epoch, base_sequence=0, is_transactional=True)
    request = produce_request(topic, batch)
    request.transactional_id = "t"
    return request


def test_a_regular_expression_finds_what_its_client_may_describe() -> None:
    world = World(nodes=1, settings=AUTHORIZED | {"allow.everyone.if.no.acl.found": "true"})
    for name in ("open", "secret"):
        world.cluster.create_topic(name, 1)
    world.cluster.ensure_internal("__consumer_offsets")
    assert world.cluster.authorizer is not None
    world.cluster.authorizer.add(acl("secret", Operation.DESCRIBE, DENY, principal="User:*"))
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", member_epoch=0, rebalance_timeout_ms=1000, subscribed_topic_regex=".*[nt]", topic_partitions=[]
    )
    response = world.client().call(CONSUMER_GROUP_HEARTBEAT, 1, request)
    assert [topic.topic_id for topic in response.assignment.topic_partitions] == [world.cluster.topics["open"].id]


@pytest.mark.parametrize(("entries", "name"), [([], None), ([acl("secret", Operation.DESCRIBE, principal="User:*")], "secret")])
def test_delete_by_id_names_only_a_topic_that_may_be_described(entries: list[Acl], name: str | None) -> None:
    world = World(nodes=1, settings=AUTHORIZED)
    topic = world.cluster.create_topic("secret", 1)
    assert world.cluster.authorizer is not None
    for each in entries:
        world.cluster.authorizer.add(each)
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=topic.id)], timeout_ms=1000)
    (result,) = world.client().call(DELETE_TOPICS, 6, request).responses
    assert (result.name, result.topic_id, result.error_code) == (name, topic.id, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert "secret" not in (result.error_message or "")
    assert "secret" in world.cluster.topics
