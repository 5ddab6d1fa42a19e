"""Limits on connections and on the memory of requests."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.limits import ConnectionQuotas, RequestMemory, parse_overrides
from odradek.broker.settings.properties import InvalidConfig
from tests.broker.harness import World


def test_request_memory_unlimited_is_always_granted() -> None:
    memory = RequestMemory(-1)
    assert all(memory.take(1 << 40, lambda: None) for _ in range(3))
    memory.release(1 << 40)
    assert memory.used_bytes == 2 << 40


def test_request_memory_released_calls_back_once() -> None:
    memory, calls = RequestMemory(100), []
    assert memory.take(90, lambda: None)
    assert memory.take(90, lambda: None)
    assert not memory.take(1, lambda: calls.append(1))
    memory.release(50)
    assert calls == []
    memory.release(50)
    assert calls == [1]
    memory.release(50)
    assert calls == [1]


def test_connections_are_limited_in_total_and_by_address() -> None:
    quotas = ConnectionQuotas(3, 2)
    assert [quotas.take("a"), quotas.take("a"), quotas.take("a"), quotas.full] == [True, True, False, False]
    assert [quotas.take("b"), quotas.full] == [True, True]
    quotas.release("a")
    assert [quotas.full, quotas.take("a")] == [False, True]


def test_connections_with_overrides_have_own_limits() -> None:
    overrides = parse_overrides(" 10.0.0.1:1 , ::1:0,")
    assert overrides == {"10.0.0.1": 1, "::1": 0}
    quotas = ConnectionQuotas(9, 2, overrides)
    assert [quotas.take("10.0.0.1"), quotas.take("10.0.0.1")] == [True, False]
    assert not quotas.take("::1")
    assert [quotas.take("10.0.0.2") for _ in range(3)] == [True, True, False]
    assert World(settings={"max.connections.per.ip.overrides": "127.0.0.1:7"}).cluster.brokers[1].connections.limit_of("127.0.0.1") == 7


@pytest.mark.parametrize("text", ["10.0.0.1", ":5", "10.0.0.1:", "10.0.0.1:-1", "10.0.0.1:many"])
def test_parse_overrides_malformed_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig):
        parse_overrides(text)
