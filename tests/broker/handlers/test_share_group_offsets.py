"""AlterShareGroupOffsets, DescribeShareGroupOffsets and DeleteShareGroupOffsets on the wire.

The differential families compare all answers with Apache Kafka's. Here are errors that it meets only with failures, and rights.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import pytest

from odradek.broker.groups.cluster_view import ShareStateSummary
from odradek.broker.security.acls import Operation, Permission
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.alter_share_group_offsets import ALTER_SHARE_GROUP_OFFSETS
from odradek.protocol.messages.delete_share_group_offsets import DELETE_SHARE_GROUP_OFFSETS
from odradek.protocol.messages.describe_share_group_offsets import DESCRIBE_SHARE_GROUP_OFFSETS
from tests.broker.handlers.access import AUTHORIZED, acl
from tests.broker.harness import World, produce
from tests.differential.requests import request_of


class States:
    """Stored states of share partitions that fail, or that are summarized as `found`."""

    def __init__(self, found: ShareStateSummary | None = None, failure: KafkaError | None = None) -> None:
        self.found, self.failure = found, failure

    def initialize(self, *arguments: object) -> None:
        if self.failure:
            raise self.failure

    set_start_offset = delete = initialize

    def summary(self, *arguments: object) -> ShareStateSummary | None:
        return self.found


class Scene:
    def __init__(self, states: States | None = None, settings: dict[str, str] | None = None) -> None:
        self.world = World(nodes=1, settings={"offsets.topic.num.partitions": "1"} | (settings or {}))
        self.world.cluster.topics.ensure_internal("__consumer_offsets")
        self.world.cluster.topics.create("t", 2)
        self.world.cluster.topics.create("u", 1)
        if states:
            vars(self.world.cluster)["share_states"] = states
        self.client = self.world.client()

    def alter(self, **offsets: dict[int, int]) -> Any:
        topics = [
            {"topic_name": name, "partitions": [{"partition_index": index, "start_offset": offset} for index, offset in each.items()]}
            for name, each in offsets.items()
        ]
        return self.client.call(ALTER_SHARE_GROUP_OFFSETS, 0, request_of(ALTER_SHARE_GROUP_OFFSETS, {"group_id": "g", "topics": topics}))

    def delete(self, *topics: str) -> Any:
        fields = {"group_id": "g", "topics": [{"topic_name": name} for name in topics]}
        return self.client.call(DELETE_SHARE_GROUP_OFFSETS, 0, request_of(DELETE_SHARE_GROUP_OFFSETS, fields))

    def describe(self, topics: dict[str, list[int]] | None = None, version: int = 1) -> Any:
        named = None if topics is None else [{"topic_name": name, "partitions": indexes} for name, indexes in topics.items()]
        request = request_of(DESCRIBE_SHARE_GROUP_OFFSETS, {"groups": [{"group_id": "g", "topics": named}]})
        [group] = self.client.call(DESCRIBE_SHARE_GROUP_OFFSETS, version, request).groups
        return group

    def offsets(self, topics: dict[str, list[int]] | None = None) -> dict[str, list[tuple[int, int, int]]]:
        return {
            topic.topic_name: [(each.partition_index, each.start_offset, each.lag) for each in topic.partitions]
            for topic in self.describe(topics).topics
        }


def codes(response: Any) -> dict[str, list[int]]:
    return {topic.topic_name: [each.error_code for each in topic.partitions] for topic in response.responses}


def test_altered_offsets_are_described_with_lag() -> None:
    scene = Scene()
    produce(scene.world, "t", b"a", b"b", b"c")
    assert codes(scene.alter(t={0: 1, 1: 0, 2: 0}, nowhere={0: 1})) == {"t": [0, 0, 3], "nowhere": [3]}
    assert scene.offsets() == {"t": [(0, 1, 2), (1, 0, 0)]}
    assert scene.offsets({"t": [1], "u": [0], "nowhere": [5]}) == {"t": [(1, 0, 0)], "u": [(0, -1, -1)], "nowhere": [(5, -1, -1)]}


def test_negative_partition_refuses_the_whole_request() -> None:
    scene = Scene()
    assert codes(scene.alter(t={0: 0})) == {"t": [0]}
    topic_id = urlsafe_b64encode(scene.world.cluster.topics["t"].id).decode().rstrip("=")
    refused = scene.alter(t={-1: 0, 1: 0})
    assert (refused.error_code, refused.responses) == (ErrorCode.UNKNOWN_SERVER_ERROR, [])
    assert refused.error_message == f"Initialize share group parameters has invalid partitionId - g {topic_id} -1"
    assert scene.offsets() == {"t": [(0, 0, 0)]}


def test_lag_counts_records_that_are_not_complete() -> None:
    scene = Scene(States(ShareStateSummary(state_epoch=2, leader_epoch=4, start_offset=1, delivery_complete_count=1)))
    produce(scene.world, "t", b"a", b"b", b"c")
    [topic] = scene.describe({"t": [0]}).topics
    assert [(each.start_offset, each.leader_epoch, each.lag) for each in topic.partitions] == [(1, 4, 1)]
    [topic] = scene.describe({"t": [0]}, version=0).topics
    assert [(each.start_offset, each.leader_epoch) for each in topic.partitions] == [(1, 4)]


def test_lag_beyond_a_long_overflows_as_in_java() -> None:
    scene = Scene(States(ShareStateSummary(state_epoch=2, leader_epoch=4, start_offset=-(2**63), delivery_complete_count=0)))
    produce(scene.world, "t", b"a")
    assert scene.offsets({"t": [0]}) == {"t": [(0, -(2**63), 1 - 2**63)]}


def test_lag_of_partition_without_leader_is_an_error() -> None:
    scene = Scene(States(ShareStateSummary(2, 0, 1, 0)))
    scene.world.cluster.topics["t"].partitions[0].leader = -1
    [topic] = scene.describe({"t": [0, 1]}).topics
    assert [each.error_code for each in topic.partitions] == [ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.NONE]


def test_failed_states_are_reported_by_partition_and_topic() -> None:
    scene = Scene(States(failure=KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)))
    assert codes(scene.alter(t={0: 1, 5: 1})) == {"t": [ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]}
    assert scene.offsets() == {}
    vars(scene.world.cluster)["share_states"] = states = States()
    assert codes(scene.alter(t={0: 1}, u={0: 1})) == {"t": [0], "u": [0]}
    states.failure = KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    assert {each.topic_name: each.error_code for each in scene.delete("t", "v").responses} == {"t": 15, "v": 3}
    states.failure = None
    assert {each.topic_name: each.error_code for each in scene.delete("t", "t").responses} == {"t": 0}


@pytest.mark.parametrize(("denied", "visible"), [(("t", "u"), []), (("u",), ["t"]), ((), ["t", "u"])])
def test_offsets_of_topics_without_rights_are_hidden(denied: tuple[str, ...], visible: list[str]) -> None:
    scene = Scene(settings=AUTHORIZED | {"allow.everyone.if.no.acl.found": "true"})
    assert codes(scene.alter(t={0: 1}, u={0: 1})) == {"t": [0], "u": [0]}
    assert scene.world.cluster.authorizer is not None
    for name in denied:
        scene.world.cluster.authorizer.add(acl(name, Operation.READ, Permission.DENY))
        scene.world.cluster.authorizer.add(acl(name, Operation.DESCRIBE, Permission.DENY))
    assert sorted(scene.offsets()) == visible
    named = scene.describe({"t": [0], "u": [0]}).topics
    refused = [topic.topic_name for topic in named if topic.partitions[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED]
    assert sorted(refused) == sorted(denied)
    assert codes(scene.alter(t={0: 1}, u={0: 1})) == {name: [29 if name in denied else 0] for name in ("t", "u")}
    deleted = {each.topic_name: each.error_code for each in scene.delete("t", "u").responses}
    assert deleted == {name: ErrorCode.TOPIC_AUTHORIZATION_FAILED if name in denied else 0 for name in ("t", "u")}


def test_offsets_of_groups_without_rights_are_refused() -> None:
    scene = Scene(settings=AUTHORIZED)
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert [scene.alter(t={0: 1}).error_code, scene.delete("t").error_code, scene.describe().error_code] == [refused] * 3
