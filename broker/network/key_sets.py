"""Reads the key sets for OAuth tokens (`sasl.oauthbearer.jwks.endpoint.url`) when the cluster starts, and again at intervals.

A URL of a file is read at once; other URLs are requested in a thread. If a key set cannot be read again, the former one remains in use.
"""

from __future__ import annotations

import asyncio
import logging

from ...protocol.client.key_stores import demand_cryptography
from ..cluster.state import ClusterState
from ..security.jws import KeySet
from ..settings.properties import InvalidConfig

TIMEOUT_S = 10.0
MAX_BYTES = 1 << 20

log = logging.getLogger("kafka.server.KafkaServer")


class KeySets:
    """Keeps `cluster.accounts.key_sets` current until `stop`."""

    def __init__(self, cluster: ClusterState) -> None:
        self.found = cluster.accounts.key_sets
        self._refreshing: list[asyncio.Task[None]] = []
        self._intervals_ms = {url: ms for broker in cluster.brokers.values() for url, ms in broker.sasl.key_set_urls().items()}

    async def start(self) -> None:
        """Reads all key sets. Raises InvalidConfig if one cannot be read."""
        if self._intervals_ms:
            demand_cryptography("sasl.oauthbearer.jwks.endpoint.url")
        for url, interval_ms in self._intervals_ms.items():
            self.found[url] = await asyncio.to_thread(_read, url)
            self._refreshing.append(asyncio.create_task(self._refresh(url, interval_ms / 1000)))

    async def _refresh(self, url: str, interval_s: float) -> None:
        while True:
            await asyncio.sleep(interval_s)
            try:
                self.found[url] = await asyncio.to_thread(_read, url)
            except InvalidConfig as error:
                log.warning("keeping the former keys: %s", error)

    async def stop(self) -> None:
        """Stops reading the key sets again."""
        for task in self._refreshing:
            task.cancel()
        await asyncio.gather(*self._refreshing, return_exceptions=True)
        self._refreshing.clear()


def _read(url: str) -> KeySet:
    from urllib.error import URLError
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=TIMEOUT_S) as response:  # the operator has chosen the URL; clients cannot change it
            text = response.read(MAX_BYTES + 1)
    except (URLError, OSError, ValueError) as error:
        raise InvalidConfig(f"cannot read sasl.oauthbearer.jwks.endpoint.url {url}: {error}") from None
    if len(text) > MAX_BYTES:
        raise InvalidConfig(f"sasl.oauthbearer.jwks.endpoint.url {url}: more than {MAX_BYTES} bytes")
    try:
        return KeySet(text.decode("utf-8", "replace"))
    except InvalidConfig as error:
        raise InvalidConfig(f"sasl.oauthbearer.jwks.endpoint.url {url}: {error}") from None
