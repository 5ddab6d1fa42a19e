"""The shortcut of Fetch keeps requests waiting as a decoded request waits: same responses, byte by byte, at the same time."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.api.context import Undecoded
from odradek.broker.fetching.fetch_shortcut import FetchTemplate
from tests.broker.fetching.pairs import WAIT_MS, Pair
from tests.broker.harness import produce
from tests.broker.transactions.producer import Producer

BATCH_BYTES = 70  # about the size of a batch with one small record


def produce_some(pair: Pair) -> None:
    produce(pair.world, "t", b"x")


def produce_more(pair: Pair) -> None:
    produce(pair.world, "t", b"y" * 500, b"z" * 500)


def delete_records(pair: Pair) -> None:
    pair.partition.delete_before(pair.partition.high_watermark)
    pair.world.cluster.wake(pair.partition)
    pair.world.advance(0)


def truncate(pair: Pair) -> None:
    pair.partition.truncate_to(1)
    pair.world.cluster.wake(pair.partition)
    pair.world.advance(0)


def change_epoch(pair: Pair) -> None:
    pair.partition.leader_epoch += 1
    pair.world.cluster.wake(pair.partition)
    pair.world.advance(0)


def decode_all(pair: Pair) -> None:
    pair.world.cluster.shortcut_allowed = False


def pass_time(pair: Pair) -> None:
    pair.world.advance(WAIT_MS // 3)


EVENTS = [produce_some, produce_some, produce_more, delete_records, truncate, change_epoch, decode_all, pass_time, pass_time]


@given(
    st.lists(st.sampled_from(EVENTS), max_size=8),
    st.sampled_from([6, 11, 12, 13, 16]),
    st.sampled_from([0, 1, BATCH_BYTES + 10, 3 * BATCH_BYTES, 100_000]),
    st.sampled_from([100, 1000, 1 << 20]),
    st.sampled_from([0, 50, 1 << 20]),
    st.integers(0, 1),
)
def test_waiting_response_equals_that_of_a_decoded_request(
    events: list[Callable[[Pair], None]], version: int, min_bytes: int, max_bytes: int, partition_max_bytes: int, isolation_level: int
) -> None:
    pair = Pair(
        version=version,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        partition_max_bytes=partition_max_bytes,
        isolation_level=isolation_level,
    )
    pair.send(1)
    assert pair.is_kept is (min_bytes > 0)
    received = pair.received()
    for event in events:
        event(pair)
        received += pair.received()
    pair.world.advance(WAIT_MS)
    assert received + pair.received()


def test_waiting_request_is_answered_when_records_arrive() -> None:
    pair = Pair()
    pair.send(1)
    assert pair.is_kept
    assert not pair.received()
    produce(pair.world, "t", b"new")
    assert b"new" in pair.received()
    assert pair.taught.connection.parked is None


def test_waiting_request_stays_until_min_bytes() -> None:
    pair = Pair(min_bytes=2 * BATCH_BYTES)
    pair.send(1)
    produce(pair.world, "t", b"one")
    assert pair.is_kept
    assert not pair.received()
    produce(pair.world, "t", b"two" * 20)
    received = pair.received()
    assert b"one" in received
    assert b"two" in received


def test_waiting_request_with_some_records_is_kept() -> None:
    """The records that exist when it arrives are too few, and its response contains them after `max_wait_ms`."""
    pair = Pair(min_bytes=2 * BATCH_BYTES)
    pair.send(0)
    assert pair.is_kept
    pair.world.advance(WAIT_MS - 1)
    assert not pair.received()
    pair.world.advance(1)
    assert b"first" in pair.received()


def test_waiting_request_ends_after_max_wait_ms() -> None:
    pair = Pair()
    pair.send(1)
    pair.world.advance(WAIT_MS - 1)
    assert not pair.received()
    assert pair.is_kept
    pair.world.advance(1)
    assert pair.received()


def test_request_that_must_not_wait_is_answered_at_once() -> None:
    pair = Pair(max_wait_ms=0)
    pair.send(1)
    assert pair.received()


def test_template_is_learned_from_a_request_that_waits() -> None:
    """A consumer that begins at the end of a log never gets a response without waiting."""
    pair = Pair()
    pair.send(1)
    produce(pair.world, "t", b"new")
    pair.received()
    pair.fresh.feed(pair.request(2))
    assert isinstance(pair.fresh.connection.parked, Undecoded)


def test_decoded_request_waits_for_the_rest_of_its_time() -> None:
    pair = Pair()
    pair.send(1)
    pair.world.advance(WAIT_MS - 100)
    change_epoch(pair)
    assert not pair.received()
    pair.world.advance(99)
    assert not pair.received()
    pair.world.advance(1)
    assert pair.received()


def test_decoded_request_is_answered_when_records_arrive() -> None:
    pair = Pair()
    pair.send(1)
    change_epoch(pair)
    produce(pair.world, "t", b"new")
    assert b"new" in pair.received()


def test_waiting_request_notices_the_end_of_its_topic() -> None:
    pair = Pair()
    pair.send(1)
    pair.world.cluster.delete_topic(pair.world.cluster.topics["t"])
    pair.world.advance(0)
    assert pair.received()


def test_waiting_request_notices_a_new_leader() -> None:
    pair = Pair(replicas=2, version=9)  # later versions may fetch from a follower
    pair.send(1)
    pair.partition.leader = pair.follower
    pair.partition.leader_epoch += 1
    pair.world.cluster.wake(pair.partition)
    pair.world.advance(0)
    assert pair.received()


def test_waiting_request_gets_no_record_above_the_high_watermark() -> None:
    pair = Pair(replicas=2)
    control = pair.world.cluster.replica_control
    control.lag(pair.partition, pair.follower, 1)
    pair.send(1)
    produce(pair.world, "t", b"new", acks=1)
    assert pair.partition.high_watermark == 1
    assert pair.is_kept
    assert not pair.received()
    control.end_lag(pair.partition, pair.follower)
    pair.world.advance(0)
    assert b"new" in pair.received()


@pytest.mark.parametrize("commit", [True, False])
def test_waiting_request_notices_the_end_of_a_transaction(commit: bool) -> None:
    pair = Pair(isolation_level=1)
    producer = Producer(pair.world)
    producer.write(b"transactional")
    pair.send(1)
    assert pair.is_kept
    assert not pair.received()
    producer.end(commit=commit)
    assert b"transactional" in pair.received()


def test_offset_beyond_the_high_watermark_is_left_to_decoding() -> None:
    pair = Pair(isolation_level=1)
    Producer(pair.world).write(b"transactional")
    pair.send(2)
    assert not pair.is_kept
    pair.world.advance(WAIT_MS)
    assert pair.received()


def test_requests_behind_a_waiting_one_are_held() -> None:
    pair = Pair()
    pair.fresh, data = pair.client(), pair.request(1) + pair.request(0) + pair.request(1)
    pair.taught.feed(data)
    pair.fresh.feed(data)
    assert not pair.received()
    produce(pair.world, "t", b"new")
    received = pair.received()
    assert received.index(b"new") < received.index(b"first") < received.rindex(b"new")


def test_closing_withdraws_a_waiting_request() -> None:
    pair = Pair()
    timers = len(pair.world.timers)
    pair.taught.feed(pair.request(1))
    assert len(pair.world.timers) == timers + 1
    pair.taught.connection.lost("the client has disconnected")
    assert len(pair.world.timers) == timers - 1, "the idle timer is cancelled too"
    assert pair.taught.connection.parked is None
    produce(pair.world, "t", b"new")
    pair.world.advance(WAIT_MS)
    assert not pair.taught.sent


def test_error_while_waiting_is_logged_with_the_request(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair()
    pair.taught.feed(pair.request(1))

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(FetchTemplate, "answer", fails)
    with caplog.at_level(logging.ERROR):
        produce(pair.world, "t", b"new")
    assert pair.taught.closed == "an internal error"
    assert "serving Fetch v12" in caplog.text
    assert "FetchRequest" in caplog.text
