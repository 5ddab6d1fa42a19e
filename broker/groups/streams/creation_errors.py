"""Errors of internal topics that could not be created, which members learn from later heartbeats (Kafka's ExpiringErrorCache)."""

from __future__ import annotations

from collections.abc import Iterable

from ...scheduling.timers import Timers

MAX_ERRORS = 1000


class CreationErrors:
    """Topic -> (error message, time at which it expires). While there is an error, the creation of the topic is not tried again."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._errors: dict[str, tuple[str, int]] = {}

    def add(self, topic: str, message: str, duration_ms: int) -> None:
        """Adds or replaces an error, which expires after `duration_ms`. The first one to expire is dropped if there are too many."""
        now_ms = self._timers.now_ms
        self._errors[topic] = message, now_ms + duration_ms
        if len(self._errors) > MAX_ERRORS:
            self._errors = {name: error for name, error in self._errors.items() if error[1] > now_ms}
        if len(self._errors) > MAX_ERRORS:
            del self._errors[min(self._errors, key=lambda name: self._errors[name][1])]

    def of(self, topics: Iterable[str]) -> dict[str, str]:
        """Returns the messages of those topics that have an error."""
        now_ms = self._timers.now_ms
        errors = {topic: self._errors[topic] for topic in topics if topic in self._errors}
        return {topic: message for topic, (message, expires_ms) in errors.items() if expires_ms > now_ms}
