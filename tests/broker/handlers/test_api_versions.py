"""ApiVersions."""

from __future__ import annotations

import pytest

from odradek.broker import handlers
from odradek.broker.handlers import HANDLERS
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import APIS
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.messages.get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.push_telemetry import PUSH_TELEMETRY
from tests.broker.harness import Client, World


@pytest.fixture
def world() -> World:
    return World()


def test_handlers_cover_every_api() -> None:
    assert {key: handler.api for key, handler in HANDLERS.items()} == APIS


def test_handlers_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        handlers.unknown  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("version", range(5))
def test_api_versions_lists_apis_and_features(world: World, version: int) -> None:
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1.0")
    response = world.client().call(API_VERSIONS, version, request)
    served = {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
    assert served.pop(PRODUCE.key) == (0, 13)  # KAFKA-18659
    unlisted = (PRODUCE, GET_TELEMETRY_SUBSCRIPTIONS, PUSH_TELEMETRY)
    assert served == {key: tuple(api.versions) for key, api in APIS.items() if api not in unlisted}
    if version >= 3:
        finalized = {feature.name: feature.max_version_level for feature in response.finalized_features}
        levels = {"group.version": 1, "metadata.version": 30, "share.version": 1, "transaction.version": 2}
        levels |= {"eligible.leader.replicas.version": 1, "streams.version": 1}
        assert finalized == levels
        supported = {feature.name: (feature.min_version, feature.max_version) for feature in response.supported_features}
        named = ("group.version", "kraft.version", "share.version", "eligible.leader.replicas.version", "streams.version")
        from_zero = dict.fromkeys(named, (0, 1))
        from_zero["transaction.version"] = (0, 2)
        assert supported == {"metadata.version": (7, 30)} | (from_zero if version >= 4 else {})  # KAFKA-17011


@pytest.mark.parametrize("name", ["", "-", "a b", "ä", "a-"])
def test_api_versions_software_name_invalid_is_refused(world: World, name: str) -> None:
    response = world.client().call(API_VERSIONS, 3, ApiVersionsRequest(client_software_name=name, client_software_version="1"))
    assert (response.error_code, response.api_keys) == (ErrorCode.INVALID_REQUEST, [])


def listed(client: Client, version: int = 4) -> ApiVersionsResponse:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    answer: ApiVersionsResponse = client.call(API_VERSIONS, version, request)
    return answer


def test_api_versions_omits_telemetry() -> None:
    """Kafka serves telemetry, but lists its APIs only if a metrics reporter accepts client metrics."""
    keys = {api.api_key for api in listed(World().client()).api_keys}
    assert {17, 36, 38, 39, 40, 41, 49, 57, 64, 80, 81} <= keys
    assert not keys & {71, 72}
