from __future__ import annotations

import gzip
import json

import pytest

from odradek.broker.wire.exchange import Exchange
from odradek.broker.wire.json_form import entry_of, json_of_entry
from odradek.protocol.batches.compression import Compression
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.push_telemetry import PUSH_TELEMETRY, PushTelemetryRequest
from tests.broker.wire.made_entries import AN_EVENT, a_heartbeat, a_produce
from tests.broker.wire.made_exchanges import exchange
from tests.protocol.otlp_messages import field, message


def a_fetch_by_id() -> Exchange:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    topics = [FetchTopic(topic_id=b"i" * 16, partitions=[partition])]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics, forgotten_topics_data=[])
    return exchange(FETCH, 13, request, topic_names={b"i" * 16: "orders", b"j" * 16: "payments"})


def test_json_of_an_exchange_names_its_parts() -> None:
    form = json_of_entry(a_produce(6, waits=("records of orders-0",)))
    assert json.loads(json.dumps(form)) == form
    assert (form["kind"], form["api"], form["version"], form["correlation_id"], form["error"]) == (
        "exchange",
        "Produce",
        9,
        7,
        "NOT_LEADER_OR_FOLLOWER",
    )
    assert (form["node"], form["peer"], form["client_id"], form["topics"]) == (1, "127.0.0.1:50000", "app", ["orders"])
    assert form["received"] == {"cluster_ms": 1000.0, "wall_ms": 2000.0}
    assert form["waits"] == ["records of orders-0"]
    assert "request" not in form


def test_verbose_json_contains_the_messages() -> None:
    form = json_of_entry(a_produce(6), verbose=True)
    assert form["request"]["topic_data"][0]["partition_data"][0]["index"] == 0
    assert form["request"]["topic_data"][0]["partition_data"][0]["records"]["bytes"] > 60
    assert form["response"]["responses"][0]["partition_responses"][0]["error_code"] == 6
    assert "topic_id" not in form["request"]["topic_data"][0]  # a field of later versions
    assert json_of_entry(a_heartbeat(), verbose=True)["response"] == {"throttle_time_ms": 0, "error_code": 0}


def test_verbose_json_contains_bytes_as_base64() -> None:
    protocols = [JoinGroupRequestProtocol(name="range", metadata=b"abc")]
    request = JoinGroupRequest(
        group_id="g", session_timeout_ms=1, rebalance_timeout_ms=1, member_id="", protocol_type="consumer", protocols=protocols
    )
    form = json_of_entry(exchange(JOIN_GROUP, 5, request), verbose=True)
    assert form["request"]["protocols"] == [{"name": "range", "metadata": {"base64": "YWJj"}}]
    assert form["response"] is None
    assert json_of_entry(a_fetch_by_id(), verbose=True)["request"]["topics"][0]["topic_id"] == "aWlpaWlpaWlpaWlpaWlpaQ"


@pytest.mark.parametrize(("metrics", "shown"), [(message(field(1, "sent")), "sent"), (b"no metrics", None)])
def test_verbose_json_contains_pushed_metrics(metrics: bytes, shown: str | None) -> None:
    data = gzip.compress(metrics)
    request = PushTelemetryRequest(
        client_instance_id=bytes(16), subscription_id=1, terminating=False, compression_type=Compression.GZIP, metrics=data
    )
    form = json_of_entry(exchange(PUSH_TELEMETRY, 0, request), verbose=True)
    pushed = form["request"]["metrics"]
    assert pushed == [{"name": "sent", "unit": "", "kind": "", "points": []}] if shown else "base64" in pushed


def test_json_with_frames_becomes_the_same_entry() -> None:
    for entry in (a_produce(6, faults=("fault 1",), ended="FIN by the client"), a_heartbeat(answered=None, written=None), AN_EVENT):
        assert entry_of(json.loads(json.dumps(json_of_entry(entry, frames=True)))) == entry


def test_json_with_frames_keeps_the_names_of_its_ids() -> None:
    form = json_of_entry(a_fetch_by_id(), frames=True)
    assert form["topic_names"] == {(b"i" * 16).hex(): "orders"}
    found = entry_of(form)
    assert isinstance(found, Exchange)
    assert found.topics == ("orders",)


@pytest.mark.parametrize("form", [{}, {"kind": "exchange"}, {"kind": "event", "sequence": 1}, {"kind": "exchange", "sequence": []}])
def test_other_json_is_no_entry(form: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="this is no entry of a record"):
        entry_of(form)
