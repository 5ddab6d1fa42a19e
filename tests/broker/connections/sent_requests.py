"""Fetch requests and changed frames that tests of connections send."""

from __future__ import annotations

from typing import Any

from odradek.broker.api.registry import Handler
from odradek.broker.handlers import HANDLERS
from odradek.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic


def fetch_request(topic: str, offset: int = 0, *, max_wait_ms: int = 500, min_bytes: int = 1) -> FetchRequest:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 30)
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=min_bytes, topics=[FetchTopic(topic=topic, partitions=[wanted])])


class replaced:  # noqa: N801
    """Replaces the handler of an API during the `with`."""

    def __init__(self, key: int, rule: Any) -> None:
        self.key, self.rule = key, rule

    def __enter__(self) -> None:
        self.kept = HANDLERS[self.key]
        HANDLERS[self.key] = Handler(self.kept.api, self.rule)

    def __exit__(self, *error: object) -> None:
        HANDLERS[self.key] = self.kept
