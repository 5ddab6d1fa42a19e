"""A client's choice of the version of each request: the highest that the broker serves and the client supports (KIP-35)."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import ErrorCode, KafkaError
from .messages.api_versions import API_VERSIONS, ApiVersionsResponse
from .schema import Api

_NOT_SERVED = (0, -1)


class ClientVersions:
    """The versions for one broker. Before `learn`, only version 0 of ApiVersions is known, which every broker serves.

    `ceilings` are the highest versions that the client uses of some APIs, by key.
    """

    def __init__(self, ceilings: Mapping[int, int]) -> None:
        self._ceilings = ceilings
        self._served = {API_VERSIONS.key: (0, 0)}

    def learn(self, response: ApiVersionsResponse) -> None:
        """Takes the versions that the broker serves from its response. Raises KafkaError if that contains an error."""
        if response.error_code:
            raise KafkaError(ErrorCode(response.error_code))
        self._served = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}

    def highest(self, api: Api, first: int) -> int | None:
        """Returns the highest version from `first` on that both sides support, None if there is none."""
        lowest, highest = self._served.get(api.key, _NOT_SERVED)
        version = min(api.versions.last, highest, self._ceilings.get(api.key, highest))
        return version if version >= max(lowest, first) else None
