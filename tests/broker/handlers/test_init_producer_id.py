"""InitProducerId without a transaction."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    return World()


def init(world: World, **options: Any) -> Any:
    request = InitProducerIdRequest(**({"transactional_id": None, "transaction_timeout_ms": 1000} | options))
    return world.client().call(INIT_PRODUCER_ID, 5, request)


def test_init_producer_id_returns_distinct_ids(world: World) -> None:
    responses = [init(world) for _ in range(3)]
    assert [(response.error_code, response.producer_epoch) for response in responses] == [(0, 0)] * 3
    assert len({response.producer_id for response in responses}) == 3


def test_init_producer_id_invalid_is_refused(world: World) -> None:
    for options, code in (
        ({"transactional_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"transactional_id": "t"}, ErrorCode.NOT_COORDINATOR),
        ({"transactional_id": "t", "transaction_timeout_ms": 900_001}, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        ({"producer_id": 1}, ErrorCode.INVALID_REQUEST),
        ({"producer_epoch": 1}, ErrorCode.INVALID_REQUEST),
    ):
        response = init(world, **options)
        assert (response.error_code, response.producer_id, response.producer_epoch) == (code, -1, -1)
