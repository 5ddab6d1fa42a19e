from __future__ import annotations

from odradek.broker.wire.replaying.ids import Ids
from odradek.protocol.batches.records import batches
from odradek.protocol.messages.fetch import FetchRequest
from odradek.protocol.messages.init_producer_id import InitProducerIdResponse
from odradek.protocol.messages.join_group import JoinGroupResponse
from odradek.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from odradek.protocol.messages.produce import ProduceRequest
from tests.broker.harness import a_batch, produce_request


def joined(member_id: str) -> JoinGroupResponse:
    return JoinGroupResponse(generation_id=1, protocol_name="range", leader=member_id, member_id=member_id, members=[])


def learned(recorded: object, live: object) -> Ids:
    ids = Ids()
    ids.learn(recorded, live)
    return ids


def test_ids_of_members_are_replaced_in_requests() -> None:
    ids = learned(joined("before"), joined("now"))
    request = LeaveGroupRequest(
        group_id="g", member_id="before", members=[MemberIdentity(member_id="before"), MemberIdentity(member_id="x")]
    )
    replaced = ids.translate(request)
    assert (replaced.member_id, [member.member_id for member in replaced.members]) == ("now", ["now", "x"])


def test_ids_of_topics_are_learnt_from_lists() -> None:
    def metadata(topic_id: bytes) -> MetadataResponse:
        topic = MetadataResponseTopic(error_code=0, name="t", topic_id=topic_id, is_internal=False, partitions=[])
        return MetadataResponse(brokers=[], controller_id=1, topics=[topic])

    ids = learned(metadata(b"b" * 16), metadata(b"n" * 16))
    request = produce_request("", a_batch(b"v"), topic_id=b"b" * 16)
    assert ids.translate(request).topic_data[0].topic_id == b"n" * 16
    assert ids.live("topic", b"x" * 16) == b"x" * 16


def test_ids_of_producers_are_replaced_in_batches() -> None:
    ids = learned(InitProducerIdResponse(producer_id=7, producer_epoch=0), InitProducerIdResponse(producer_id=9, producer_epoch=0))
    batch = a_batch(b"v", producer_id=7, producer_epoch=0, base_sequence=0)
    records = ids.translate(produce_request("t", batch * 2 + b"rest")).topic_data[0].partition_data[0].records
    found = list(batches(bytes(records)[: 2 * len(batch)]))
    assert [each.header.producer_id for each in found] == [9, 9]
    assert all(each.crc_valid() for each in found)
    damaged = bytes(20)
    assert bytes(ids.translate(produce_request("t", damaged)).topic_data[0].partition_data[0].records) == damaged
    request: ProduceRequest = ids.translate(produce_request("t", None))
    assert request.topic_data[0].partition_data[0].records is None


def test_values_without_an_id_are_not_learnt() -> None:
    ids = learned(InitProducerIdResponse(producer_id=-1, producer_epoch=0), InitProducerIdResponse(producer_id=9, producer_epoch=0))
    assert ids.live("producer", -1) == -1
    request = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[], session_id=0)
    assert ids.translate(request) == request
