"""Requests that a shortcut keeps waiting show what they are, as decoded ones do."""

from __future__ import annotations

import pytest

from odradek.broker.api.context import Parked, Undecoded
from odradek.protocol.messages.fetch import FETCH
from tests.broker.fetching.pairs import Pair
from tests.broker.harness import produce


@pytest.fixture
def pair() -> Pair:
    pair = Pair()
    pair.send(1)
    return pair


def test_undecoded_request_shows_the_values_of_its_bytes(pair: Pair) -> None:
    kept, decoded = pair.taught.connection.parked, pair.fresh.connection.parked
    assert isinstance(kept, Undecoded)
    assert isinstance(decoded, Parked)
    assert kept.request == decoded.request
    assert kept.header == decoded.header
    assert kept.header.api is FETCH
    assert kept.context.version == decoded.context.version
    assert kept.context.client is pair.taught.connection.client


def test_undecoded_request_is_decoded_once(pair: Pair) -> None:
    kept = pair.taught.connection.parked
    assert kept is not None
    assert kept.request is kept.request
    assert kept.context is kept.context


def test_undecoded_request_has_no_other_attributes(pair: Pair) -> None:
    kept = pair.taught.connection.parked
    with pytest.raises(AttributeError, match="response"):
        kept.response  # type: ignore[union-attr]  # noqa: B018


def test_hang_holds_an_undecoded_request(pair: Pair) -> None:
    fault = pair.world.fault(topic="t", api=["Fetch"], hang=True)
    assert fault.hits == 2
    produce(pair.world, "t", b"new")
    assert not pair.received()
    pair.world.core.faults.remove(fault)
    pair.world.advance(0)
    assert b"new" in pair.received()


def test_fault_for_later_requests_spares_an_undecoded_one(pair: Pair) -> None:
    pair.world.fault(topic="t", api=["Fetch"], error="UNKNOWN_SERVER_ERROR")
    produce(pair.world, "t", b"new")
    assert b"new" in pair.received()
    pair.send(2)
    assert not pair.is_kept
    assert pair.received()


def test_spared_request_is_kept_undecoded(pair: Pair) -> None:
    """A fault that concerns another API spares all fetches, so that only the first one after its addition is decoded."""
    fault = pair.world.fault(api=["Produce"], error="UNKNOWN_SERVER_ERROR", times=1)
    pair.world.advance(500)
    pair.received()
    pair.send(1)
    assert not pair.is_kept
    pair.world.advance(500)
    pair.received()
    pair.send(1)
    assert pair.is_kept
    pair.world.advance(500)
    assert pair.received()
    assert (fault.hits, pair.taught.connection.sparing.count) == (0, 1)
