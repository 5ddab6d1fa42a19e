"""Responses to requests that fail as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.api.failure import failure, with_error
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import APIS
from odradek.protocol.messages.consumer_group_describe import CONSUMER_GROUP_DESCRIBE
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.delete_topics import DELETE_TOPICS
from odradek.protocol.messages.describe_groups import DESCRIBE_GROUPS
from odradek.protocol.messages.describe_transactions import DESCRIBE_TRANSACTIONS
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse, TopicProduceResponse
from odradek.protocol.schema import Api, specs
from tests.broker.api.examples import error_codes, example


@pytest.mark.parametrize(("api", "version"), [(api, v) for api in APIS.values() for v in range(api.versions.first, api.versions.last + 1)])
def test_failure_has_the_error_in_every_item(api: Api, version: int) -> None:
    response = failure(api, example(api.request, version), ErrorCode.UNKNOWN_SERVER_ERROR, "a bug")
    codes = error_codes(api.response.decode(version, response.encode(version)))
    assert codes
    assert set(codes) <= {-1, 0}
    assert -1 in codes


def test_failure_of_an_item_leaves_out_its_parts() -> None:
    """As OffsetFetchResponse.groupError: a client that finds errors of partitions may give up the partitions instead of asking again."""
    response: Any = failure(OFFSET_FETCH, example(OFFSET_FETCH.request, 9), ErrorCode.NOT_COORDINATOR, None)
    assert [(group.group_id, group.error_code, group.topics) for group in response.groups] == [("x", ErrorCode.NOT_COORDINATOR, [])]


def test_failure_has_the_items_of_the_request() -> None:
    request = example(PRODUCE.request, 9)
    response: Any = failure(PRODUCE, request, ErrorCode.UNKNOWN_SERVER_ERROR, "a bug")
    (topic,) = response.responses
    (partition,) = topic.partition_responses
    assert (topic.name, partition.index, partition.error_code, partition.error_message) == ("x", 7, -1, "a bug")


@pytest.mark.parametrize("api", [DESCRIBE_GROUPS, DESCRIBE_TRANSACTIONS, CONSUMER_GROUP_DESCRIBE], ids=lambda api: api.name)
def test_failure_puts_a_plain_name_only_into_the_identity(api: Api) -> None:
    """The request lists names of groups or transactional ids; the response has further texts, which stay empty."""
    response: Any = failure(api, example(api.request, api.versions.last), ErrorCode.NOT_COORDINATOR, None)
    (item,) = getattr(response, "groups", None) or response.transaction_states
    texts = {spec.name: getattr(item, spec.name) for spec in specs(type(item)) if spec.kind == "str" and not spec.array}
    assert [name for name, text in texts.items() if text == "x"] in (["group_id"], ["transactional_id"])


def test_failure_names_the_topics_of_old_deletions() -> None:
    response: Any = failure(DELETE_TOPICS, example(DELETE_TOPICS.request, 4), ErrorCode.NOT_CONTROLLER, None)
    assert [(topic.name, topic.error_code) for topic in response.responses] == [("x", ErrorCode.NOT_CONTROLLER)]


def test_failure_says_nothing_about_the_configs_of_new_topics() -> None:
    response: Any = failure(CREATE_TOPICS, example(CREATE_TOPICS.request, 7), ErrorCode.NOT_CONTROLLER, "no")
    assert [(topic.error_code, topic.topic_config_error_code) for topic in response.topics] == [(ErrorCode.NOT_CONTROLLER, 0)]


def test_failed_item_keeps_only_its_identity() -> None:
    partition = PartitionProduceResponse(index=3, base_offset=8)
    item = with_error(TopicProduceResponse(name="t", partition_responses=[partition]), ErrorCode.INVALID_RECORD, "bad")
    assert item == TopicProduceResponse(name="t", partition_responses=[])
    assert with_error(partition, ErrorCode.INVALID_RECORD, "bad") == PartitionProduceResponse(
        index=3, error_code=ErrorCode.INVALID_RECORD, error_message="bad", base_offset=-1
    )
