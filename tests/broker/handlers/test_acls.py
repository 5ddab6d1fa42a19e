"""APIs under access control: the effect of entries on requests, and the APIs of entries without an authorizer."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.security.acls import Acl, Operation, Permission
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.messages.create_acls import CREATE_ACLS, AclCreation, CreateAclsRequest
from odradek.protocol.messages.delete_acls import DELETE_ACLS, DeleteAclsFilter, DeleteAclsRequest
from odradek.protocol.messages.delete_topics import DELETE_TOPICS, DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.messages.describe_acls import DESCRIBE_ACLS, DescribeAclsRequest
from odradek.protocol.messages.describe_transactions import DESCRIBE_TRANSACTIONS, DescribeTransactionsRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.handlers.access import AUTHORIZED, acl
from tests.broker.harness import World, a_batch, produce_request

ANY: dict[str, Any] = {"pattern_type_filter": 1, "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1}


def test_produce_denied_between_two_requests_is_refused() -> None:
    world = World(settings=AUTHORIZED | {"allow.everyone.if.no.acl.found": "true"})
    world.cluster.topics.create("t", 1)
    client = world.leader_of("t")
    request = produce_request("t", a_batch(b"a"))

    def errors() -> list[int]:
        return [partition.error_code for topic in client.call(PRODUCE, 9, request).responses for partition in topic.partition_responses]

    assert errors() == errors() == [0]
    denied = AclCreation(resource_type=2, resource_name="t", principal="User:*", host="*", operation=4, permission_type=2)
    client.call(CREATE_ACLS, 3, CreateAclsRequest(creations=[denied]))
    assert errors() == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]


@pytest.mark.parametrize(("before", "after"), [([], ["secret"]), (["secret"], [])], ids=["becomes visible", "becomes invisible"])
def test_regular_expression_follows_acls_after_interval(before: list[str], after: list[str]) -> None:
    settings = AUTHORIZED | {"allow.everyone.if.no.acl.found": "true", "group.consumer.regex.refresh.interval.ms": "30000"}
    world = World(nodes=1, settings=settings)
    names = {world.cluster.topics.create(name, 1).id: name for name in ("open", "secret")}
    world.cluster.topics.ensure_internal("__consumer_offsets")
    authorizer, client, denied = world.cluster.authorizer, world.client(), acl("secret", Operation.DESCRIBE, Permission.DENY)
    assert authorizer is not None
    seen: dict[str, list[str]] = {}

    def beat(**options: Any) -> int:
        request = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", **options)
        response = client.call(CONSUMER_GROUP_HEARTBEAT, 1, request)
        assert response.error_code == 0
        if response.assignment:
            seen["last"] = sorted(names[each.topic_id] for each in response.assignment.topic_partitions)
        return int(response.member_epoch)

    if not before:
        authorizer.add(denied)
    epoch = beat(member_epoch=0, rebalance_timeout_ms=30_000, subscribed_topic_regex=".*(open|secret)", topic_partitions=[])
    assert seen["last"] == ["open", *before]
    if before:
        authorizer.add(denied)
    else:
        authorizer.remove([denied])
    world.advance(29_999)
    assert beat(member_epoch=epoch) == epoch
    assert seen["last"] == ["open", *before]
    world.advance(1)
    epoch = beat(member_epoch=epoch)
    owned = [TopicPartitions(topic_id=key, partitions=[0]) for key, name in names.items() if name in seen["last"]]
    beat(member_epoch=epoch, topic_partitions=owned)
    assert seen["last"] == ["open", *after]


def test_describe_transactions_leaves_out_hidden_topics() -> None:
    world = World(nodes=1, settings=AUTHORIZED | {"allow.everyone.if.no.acl.found": "true"})
    for name in ("open", "secret"):
        world.cluster.topics.create(name, 1)
    world.cluster.topics.ensure_internal("__transaction_state")
    client = world.client()
    client.call(INIT_PRODUCER_ID, 4, InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000))
    transaction = world.cluster.transactions.get("t")
    assert transaction is not None
    for name in ("open", "secret"):
        client.call(PRODUCE, 12, produce_in_transaction(name, *transaction.producer))
    assert world.cluster.authorizer is not None
    world.cluster.authorizer.add(acl("secret", Operation.DESCRIBE, Permission.DENY))
    (described,) = client.call(DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(transactional_ids=["t"])).transaction_states
    assert [topic.topic for topic in described.topics] == ["open"]


def produce_in_transaction(topic: str, producer_id: int, epoch: int) -> Any:
    batch = a_batch(b"a", producer_id=producer_id, producer_epoch=epoch, base_sequence=0, is_transactional=True)
    request = produce_request(topic, batch)
    request.transactional_id = "t"
    return request


def test_subscribed_regex_matches_visible_topics_only() -> None:
    world = World(nodes=1, settings=AUTHORIZED | {"allow.everyone.if.no.acl.found": "true"})
    for name in ("open", "secret"):
        world.cluster.topics.create(name, 1)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    assert world.cluster.authorizer is not None
    world.cluster.authorizer.add(acl("secret", Operation.DESCRIBE, Permission.DENY))
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", member_epoch=0, rebalance_timeout_ms=1000, subscribed_topic_regex=".*[nt]", topic_partitions=[]
    )
    response = world.client().call(CONSUMER_GROUP_HEARTBEAT, 1, request)
    assert [topic.topic_id for topic in response.assignment.topic_partitions] == [world.cluster.topics["open"].id]


@pytest.mark.parametrize(("entries", "name"), [([], None), ([acl("secret", Operation.DESCRIBE)], "secret")])
def test_delete_topics_by_id_names_visible_topic_only(entries: list[Acl], name: str | None) -> None:
    world = World(nodes=1, settings=AUTHORIZED)
    topic = world.cluster.topics.create("secret", 1)
    assert world.cluster.authorizer is not None
    for each in entries:
        world.cluster.authorizer.add(each)
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=topic.id)], timeout_ms=1000)
    (result,) = world.client().call(DELETE_TOPICS, 6, request).responses
    assert (result.name, result.topic_id, result.error_code) == (name, topic.id, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert "secret" not in (result.error_message or "")
    assert "secret" in world.cluster.topics


def test_acl_apis_without_authorizer_return_security_disabled() -> None:
    client = World().client()
    described = client.call(DESCRIBE_ACLS, 3, DescribeAclsRequest(resource_type_filter=1, resource_name_filter=None, **ANY))
    assert (described.error_code, described.error_message) == (ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker")
    entry = AclCreation(resource_type=2, resource_name="t", principal="User:a", host="*", operation=3, permission_type=3)
    created = client.call(CREATE_ACLS, 3, CreateAclsRequest(creations=[entry, entry]))
    assert [result.error_code for result in created.results] == [ErrorCode.SECURITY_DISABLED] * 2
    wanted = DeleteAclsFilter(resource_type_filter=1, resource_name_filter=None, **ANY)
    deleted = client.call(DELETE_ACLS, 3, DeleteAclsRequest(filters=[wanted]))
    assert [(result.error_code, result.matching_acls) for result in deleted.filter_results] == [(ErrorCode.SECURITY_DISABLED, [])]
