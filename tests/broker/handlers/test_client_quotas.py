"""AlterClientQuotas and DescribeClientQuotas: filters that Apache Kafka 4.3.1 accepts and refuses."""

from __future__ import annotations

from typing import Any

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_client_quotas import DESCRIBE_CLIENT_QUOTAS, ComponentData, DescribeClientQuotasRequest
from tests.broker.harness import World


def quotas(world: World, *components: tuple[str, int, str | None]) -> tuple[int, Any]:
    wanted = [ComponentData(entity_type=kind, match_type=match_type, match=match) for kind, match_type, match in components]
    response = world.client().call(DESCRIBE_CLIENT_QUOTAS, 1, DescribeClientQuotasRequest(components=wanted, strict=False))
    return response.error_code, response.entries


def test_describe_client_quotas_checks_the_filter() -> None:
    world = World()
    assert quotas(world) == (0, [])
    assert quotas(world, ("xx", 2, None)) == (ErrorCode.UNSUPPORTED_VERSION, None)
    assert quotas(world, ("user", 2, None), ("user", 2, None)) == (ErrorCode.INVALID_REQUEST, None)
    assert quotas(world, ("user", 7, None)) == (ErrorCode.INVALID_REQUEST, None)
    assert quotas(world, ("user", 0, None)) == (ErrorCode.INVALID_REQUEST, None)
