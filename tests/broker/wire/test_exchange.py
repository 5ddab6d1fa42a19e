from __future__ import annotations

import pytest

from odradek.broker.wire.exchange import TOKEN_API, Frame
from odradek.protocol.frame import encode_request, encode_response
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from tests.broker.harness import a_batch, produce_request
from tests.broker.wire.made_exchanges import an_exchange, exchange, frame_of


def test_exchange_of_heartbeat_is_decoded() -> None:
    request = HeartbeatRequest(group_id="billing", generation_id=3, member_id="m")
    found = exchange(HEARTBEAT, 4, request, HeartbeatResponse(throttle_time_ms=0, error_code=27))
    assert (found.api, found.api_key, found.version, found.correlation_id, found.client_id) == ("Heartbeat", 12, 4, 7, "app")
    assert found.request == request
    assert isinstance(found.response, HeartbeatResponse)
    assert found.errors == ("REBALANCE_IN_PROGRESS",)
    assert found.groups == ("billing",)
    assert found.topics == ()


def test_errors_of_partitions_are_listed_once() -> None:
    partitions = [PartitionProduceResponse(index=index, error_code=code, base_offset=0) for index, code in enumerate((6, 0, 6, 10))]
    response = ProduceResponse(responses=[TopicProduceResponse(name="orders", partition_responses=partitions)])
    found = exchange(PRODUCE, 9, produce_request("orders", a_batch(b"x")), response)
    assert found.errors == ("NOT_LEADER_OR_FOLLOWER", "MESSAGE_TOO_LARGE")
    assert found.topics == ("orders",)


def test_truncated_frame_still_names_its_topic() -> None:
    found = exchange(PRODUCE, 9, produce_request("orders", a_batch(bytes(10_000))))
    assert found.request_frame.size > len(found.request_frame.head) == 4096
    assert found.request is None
    assert (found.api, found.topics) == ("Produce", ("orders",))


def test_topic_id_is_resolved_by_known_names() -> None:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic_id=b"i" * 16, partitions=[partition])], forgotten_topics_data=[]
    )
    assert exchange(FETCH, 13, request).topics == ()
    assert exchange(FETCH, 13, request, topic_names={b"i" * 16: "orders"}).topics == ("orders",)


def test_unknown_api_has_a_name_and_no_message() -> None:
    found = an_exchange(Frame(b"\x03\xe7\0\2\0\0\0\5\xff\xff", 10), Frame(b"\0\0\0\5", 4))
    assert (found.api, found.version, found.correlation_id, found.client_id) == ("Unknown(999)", 2, 5, None)
    assert (found.request, found.response, found.errors, found.topics, found.groups) == (None, None, (), (), ())


def test_unserved_version_of_api_versions_is_answered_in_0() -> None:
    answer = frame_of(encode_response(API_VERSIONS, 0, 7, ApiVersionsResponse(error_code=35, api_keys=[])))
    request = frame_of(encode_request(API_VERSIONS, 3, 7, "app", ApiVersionsRequest()))
    later = Frame(request.head[:2] + b"\0\x63" + request.head[4:], request.size)
    found = an_exchange(later, answer)
    assert (found.version, found.request, found.errors) == (99, None, ("UNSUPPORTED_VERSION",))


def test_sasl_token_without_header_shows_nothing() -> None:
    found = an_exchange(Frame(b"", 20), Frame(b"", 0))
    assert (found.api, found.client_id, found.request, found.response) == (TOKEN_API, None, None, None)


def test_secret_of_authentication_is_not_shown() -> None:
    found = exchange(SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"))
    assert found.request == SaslAuthenticateRequest(auth_bytes=b"*" * 13)


@pytest.mark.parametrize("cut", range(0, 60, 3))
def test_damaged_frame_never_raises(cut: int) -> None:
    data = b"".join(encode_request(PRODUCE, 9, 7, "app", produce_request("orders", a_batch(b"x"))))[4:]
    for head in (data[:cut], data[:cut] + b"\xff" * 40):
        found = an_exchange(Frame(head, len(head)), Frame(head, len(head)))
        assert isinstance(found.api, str)
        assert isinstance((found.request, found.response, found.errors, found.topics, found.groups, found.client_id), tuple)


def test_event_and_exchange_are_immutable() -> None:
    found = exchange(HEARTBEAT, 4, HeartbeatRequest(group_id="billing", generation_id=3, member_id="m"))
    with pytest.raises(AttributeError):
        found.sequence = 2  # type: ignore[misc]


def test_exchange_of_a_removed_version_is_decoded() -> None:
    """Emulated older releases serve versions that Kafka 4.3 does not."""
    partition = PartitionProduceResponse(index=0, error_code=2, base_offset=-1)
    response = ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[partition])])
    found = exchange(PRODUCE, 0, produce_request("t", b"message set"), response)
    assert (found.topics, found.errors) == (("t",), ("CORRUPT_MESSAGE",))
    assert found.request is not None and found.response == response
