"""Metadata storms: a client asks for metadata again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exchange import Exchange
from .finding import Finding, densest, shown, span_s
from .history import History, received_ms

MANY, MANY_FAILED, WITHIN_MS = 20, 10, 10_000.0
MANY_PER_CONNECTION = 4
"""Below this number, it is many clients that start, not one that asks again and again."""


def metadata_storms(history: History) -> Iterable[Finding]:
    """Finds clients with MANY requests for metadata within WITHIN_MS, or MANY_FAILED that are answered with errors."""
    for client in history.clients:
        asked = [exchange for exchange in client.of("Metadata") if not history.excuses(exchange)]
        storm = densest(asked, received_ms, WITHIN_MS)
        failed = densest([exchange for exchange in asked if exchange.errors], received_ms, WITHIN_MS)
        if len(failed) >= MANY_FAILED:
            storm = failed
        elif len(storm) < MANY:
            continue
        if len(storm) >= MANY_PER_CONNECTION * len({exchange.connection for exchange in storm}):
            advice, settings = _advice(storm)
            problem = f"{len(storm)} Metadata requests within {span_s(received_ms(storm[0]), received_ms(storm[-1]))}"
            yield Finding("metadata storm", str(client), problem + _errors(storm), advice, settings, shown(storm))


def _errors(storm: Sequence[Exchange]) -> str:
    found = dict.fromkeys(error for exchange in storm for error in exchange.errors)
    topics = dict.fromkeys(topic for exchange in storm if exchange.errors for topic in exchange.topics)
    return f", answered with {', '.join(found)} for {', '.join(topics) or 'all topics'}" if found else ""


def _advice(storm: Sequence[Exchange]) -> tuple[str, tuple[str, ...]]:
    errors = {error for exchange in storm for error in exchange.errors}
    if "UNKNOWN_TOPIC_OR_PARTITION" in errors:
        text = "create the topic before the client starts, or correct its name; the client asks until the topic exists"
        return text, ("auto.create.topics.enable", "allow.auto.create.topics")
    if "LEADER_NOT_AVAILABLE" in errors:
        return "partitions of the topic have no leader; start the nodes with its replicas", ("retry.backoff.ms",)
    if not any(exchange.topics for exchange in storm):
        return "the program lists all topics in a loop; keep the result, or ask for one topic", ("topic.metadata.refresh.interval.ms",)
    text = "the client refreshes its metadata too often; raise the interval, whose default is 5 minutes"
    return text, ("topic.metadata.refresh.interval.ms", "metadata.max.age.ms")
