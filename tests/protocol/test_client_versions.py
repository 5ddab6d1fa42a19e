from __future__ import annotations

import pytest

from odradek.protocol.client_versions import ClientVersions
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersion, ApiVersionsResponse
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.metadata import METADATA


def served(api_key: int, lowest: int, highest: int) -> ApiVersionsResponse:
    return ApiVersionsResponse(api_keys=[ApiVersion(api_key=api_key, min_version=lowest, max_version=highest)])


def test_versions_before_the_response_are_those_of_every_broker() -> None:
    versions = ClientVersions({})
    assert (versions.highest(API_VERSIONS, 0), versions.highest(METADATA, 0)) == (0, None)


@pytest.mark.parametrize(
    ("lowest", "highest", "ceiling", "found"), [(0, 5, 99, 5), (0, 99, 99, 18), (0, 99, 12, 12), (0, 3, 99, None), (13, 14, 12, None)]
)
def test_highest_is_what_both_sides_support(lowest: int, highest: int, ceiling: int, found: int | None) -> None:
    versions = ClientVersions({FETCH.key: ceiling})
    versions.learn(served(FETCH.key, lowest, highest))
    assert versions.highest(FETCH, 4) == found


def test_learn_from_an_error_raises() -> None:
    with pytest.raises(KafkaError) as raised:
        ClientVersions({}).learn(ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[]))
    assert raised.value.code is ErrorCode.UNSUPPORTED_VERSION
