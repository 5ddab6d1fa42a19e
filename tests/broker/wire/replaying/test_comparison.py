from __future__ import annotations

from odradek.broker.wire.replaying.comparison import MAX_DIFFERENCES, differences
from odradek.broker.wire.replaying.ids import Ids
from odradek.protocol.batches.compression import Compression
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from odradek.protocol.messages.find_coordinator import FindCoordinatorResponse
from odradek.protocol.messages.init_producer_id import InitProducerIdResponse
from odradek.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from odradek.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from odradek.protocol.schema import Message
from tests.broker.harness import a_batch


def compared(recorded: Message, live: Message, version: int, ids: Ids | None = None) -> list[str]:
    return differences(recorded, live, version, ids or Ids())


def fetched(*batches: bytes | None) -> FetchResponse:
    numbered = enumerate(batches)
    partitions = [PartitionData(partition_index=n, high_watermark=1, aborted_transactions=[], records=each) for n, each in numbered]
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=partitions)])


def test_differences_name_field_and_values() -> None:
    recorded = ListGroupsResponse(error_code=0, groups=[ListedGroup(group_id="a", protocol_type="consumer", group_state="Stable")])
    live = ListGroupsResponse(
        error_code=ErrorCode.NOT_COORDINATOR, groups=[ListedGroup(group_id="a", protocol_type="consumer", group_state="Empty")] * 2
    )
    assert compared(recorded, live, 4) == [
        "error_code: NONE was recorded, now NOT_COORDINATOR",
        "groups: 1 item was recorded, now 2",
        "groups[0].group_state: 'Stable' was recorded, now 'Empty'",
    ]
    assert compared(recorded, live, 3)[2:] == []  # the version has no states


def test_differences_leave_out_times_and_addresses() -> None:
    recorded = FindCoordinatorResponse(throttle_time_ms=0, error_code=0, error_message=None, node_id=1, host="a", port=1)
    live = FindCoordinatorResponse(throttle_time_ms=9, error_code=0, error_message="", node_id=2, host="b", port=2)
    assert compared(recorded, live, 3) == []


def test_differences_know_ids_that_stand_for_each_other() -> None:
    recorded, live = InitProducerIdResponse(producer_id=7, producer_epoch=0), InitProducerIdResponse(producer_id=9, producer_epoch=0)
    assert compared(recorded, live, 4) == ["producer_id: 7 was recorded, now 9"]
    ids = Ids()
    ids.learn(recorded, live)
    assert compared(recorded, live, 4, ids) == []


def test_differences_of_records_are_those_of_their_contents() -> None:
    assert compared(fetched(a_batch(b"v")), fetched(a_batch(b"v", compression=Compression.GZIP)), 11) == []
    assert compared(fetched(a_batch(b"v")), fetched(a_batch(b"w", b"x")), 11) == [
        "responses[0].partitions[0].records: 1 record was recorded, now 2 records"
    ]
    assert compared(fetched(None), fetched(b"damaged, and no batch"), 11) == [
        "responses[0].partitions[0].records: None was recorded, now 21 bytes"
    ]


def test_differences_are_bounded() -> None:
    many = [a_batch(b"v")] * 100
    found = compared(fetched(*many), fetched(*[a_batch(b"w")] * 100), 11)
    assert len(found) == MAX_DIFFERENCES


def test_lists_are_compared_by_key() -> None:
    def groups(*names: tuple[str, str]) -> ListGroupsResponse:
        listed = [ListedGroup(group_id=name, protocol_type="consumer", group_state=state) for name, state in names]
        return ListGroupsResponse(error_code=0, groups=listed)

    recorded = groups(("a", "Empty"), ("b", "Stable"))
    assert compared(recorded, groups(("b", "Stable"), ("a", "Empty")), 4) == []
    assert compared(recorded, groups(("b", "Dead"), ("a", "Empty")), 4) == ["groups[1].group_state: 'Stable' was recorded, now 'Dead'"]
    assert compared(recorded, groups(("c", "Stable"), ("a", "Empty")), 4) == ["groups[1].group_id: 'b' was recorded, now 'c'"]
    assert compared(recorded, groups(("b", "Stable")), 4) == ["groups: 2 items were recorded, now 1"]


def test_ids_of_lists_in_another_order_are_learnt_by_name() -> None:
    def topics(*named: tuple[str, int]) -> MetadataResponse:
        found = [MetadataResponseTopic(name=name, topic_id=bytes([number] * 16), partitions=[]) for name, number in named]
        return MetadataResponse(brokers=[], topics=found)

    recorded, live, ids = topics(("a", 1), ("b", 2)), topics(("b", 4), ("a", 3)), Ids()
    ids.learn(recorded, live)
    assert (ids.live("topic", bytes([1] * 16)), ids.live("topic", bytes([2] * 16))) == (bytes([3] * 16), bytes([4] * 16))
    assert compared(recorded, live, 12, ids) == []

    def fetched_ids(*numbers: int) -> FetchResponse:
        return FetchResponse(responses=[FetchableTopicResponse(topic_id=bytes([number] * 16), partitions=[]) for number in numbers])

    assert compared(fetched_ids(1, 2), fetched_ids(4, 3), 13, ids) == []
