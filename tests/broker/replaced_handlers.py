"""Handlers that a test replaces."""

from __future__ import annotations

from typing import Any

from odradek.broker.api.registry import Handler
from odradek.broker.handlers import HANDLERS


class replaced:  # noqa: N801
    """Replaces the handler of an API during the `with`."""

    def __init__(self, key: int, rule: Any) -> None:
        self.key, self.rule = key, rule

    def __enter__(self) -> None:
        self.kept = HANDLERS[self.key]
        HANDLERS[self.key] = Handler(self.kept.api, self.rule)

    def __exit__(self, *error: object) -> None:
        HANDLERS[self.key] = self.kept
