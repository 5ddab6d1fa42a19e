"""Topics that do not exist: their name is often misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from ....protocol.errors import ErrorCode
from ....protocol.messages.metadata import MetadataResponse
from ..exchange import Exchange
from .finding import Finding, shown
from .history import Client, History

FEWEST = 3
"""The number of requests for a topic that does not exist which makes a finding, if no other topic has a similar name."""
SIMILARITY = 0.75


def unknown_topics(history: History) -> Iterable[Finding]:
    """Finds clients that ask for a topic which has never existed, as far as the record shows."""
    known = _known(history)
    for client in history.clients:
        for name, exchanges in _unknown(client, known).items():
            similar = get_close_matches(name, known, 1, SIMILARITY)
            if similar or len(exchanges) >= FEWEST:
                hint = f"; there is a topic {similar[0]}" if similar else ""
                problem = f"the topic {name} does not exist: {len(exchanges)} requests were answered with UNKNOWN_TOPIC_OR_PARTITION{hint}"
                advice = "correct the name, or create the topic before the client starts"
                settings = ("auto.create.topics.enable", "allow.auto.create.topics")
                yield Finding("an unknown topic", str(client), problem, advice, settings, shown(exchanges))


def _known(history: History) -> set[str]:
    """Returns the names of the topics that exist or have existed. Those that the broker keeps for itself are left out."""
    metadata = [exchange for client in history.clients for exchange in client.of("Metadata")]
    names = {name for exchange in metadata[-1:] for name in exchange.topic_names.values()}
    names.update(name for exchange in metadata for name, error in _described(exchange) if not error)
    return {name for name in names if not name.startswith("__")}


def _unknown(client: Client, known: set[str]) -> dict[str, list[Exchange]]:
    """Returns the requests for topics that do not exist by the names of the topics."""
    found: dict[str, list[Exchange]] = {}
    for exchange, _ in client.failed:
        for name, error in _described(exchange) if exchange.api == "Metadata" else ():
            if error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and name and name not in known:
                found.setdefault(name, []).append(exchange)
    return found


def _described(exchange: Exchange) -> Iterator[tuple[str, int]]:
    """Yields the topics of a Metadata response with their errors."""
    response = exchange.partial_response
    if isinstance(response, MetadataResponse):
        yield from ((topic.name or "", topic.error_code) for topic in response.topics)
