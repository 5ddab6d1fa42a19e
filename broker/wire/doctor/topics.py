"""Topics that do not exist or have misspelt names, and clients that ask for metadata again and again.

A topic with a misspelt name may exist, because a broker has created it for the client that misspells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from ....protocol.errors import ErrorCode
from ....protocol.messages.metadata import MetadataResponse
from ...plurals import counted
from ..exchange import Exchange
from .consumers import has_records
from .contents import fetches_of
from .finding import Finding, densest, evidence, span_s
from .history import ClientHistory, WireHistory, received_ms

MANY_UNKNOWN = 3
"""The number of requests for a topic that does not exist which makes a finding, if no other topic has a similar name."""
SIMILARITY = 0.75
MAX_COMPARED = 2500
"""More pairs of names are not compared, because comparing them takes up to 0.15 s, and the number of names is not limited."""
_WRITES = re.compile(r"writing records to (.+)")
_NUMBER = re.compile(r"\d+")


def unknown_topics(history: WireHistory) -> Iterable[Finding]:
    """Finds clients that ask for a topic which has never existed, as far as the record shows."""
    known = _known_topics(history)
    for client in history.clients:
        unknown = _unknown(client, known)
        compared = known if len(unknown) * len(known) <= MAX_COMPARED else set()
        for name, exchanges in unknown.items():
            similar = get_close_matches(name, compared, 1, SIMILARITY)
            if similar or len(exchanges) >= MANY_UNKNOWN:
                hint = f"; there is a topic {similar[0]}" if similar else ""
                problem = (
                    f"the topic {name} does not exist: {counted(len(exchanges), 'request')} failed with UNKNOWN_TOPIC_OR_PARTITION{hint}"
                )
                advice = "correct the name, or create the topic before the client starts"
                settings = ("auto.create.topics.enable", "allow.auto.create.topics")
                yield Finding("an unknown topic", str(client), problem, advice, settings, evidence(exchanges))


def _known_topics(history: WireHistory) -> set[str]:
    """Returns the names of the topics that exist or have existed. Internal topics are left out."""
    metadata = [exchange for client in history.clients for exchange in client.of("Metadata")]
    names = {name for exchange in metadata[-1:] for name in exchange.topic_names.values()}
    names.update(name for exchange in metadata for name, error in _errors_of_topics(exchange) if not error)
    return {name for name in names if not name.startswith("__")}


def _unknown(client: ClientHistory, known: set[str]) -> dict[str, list[Exchange]]:
    """Returns the requests for topics that do not exist by the names of the topics."""
    found: dict[str, list[Exchange]] = {}
    for exchange, _ in client.failures:
        for name, error in _errors_of_topics(exchange) if exchange.api == "Metadata" else ():
            if error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and name and name not in known:
                found.setdefault(name, []).append(exchange)
    return found


def _errors_of_topics(exchange: Exchange) -> Iterator[tuple[str, int]]:
    """Yields the topics of a Metadata response with their errors."""
    response = exchange.partial_response
    if isinstance(response, MetadataResponse):
        yield from ((topic.name or "", topic.error_code) for topic in response.topics)


def misspelt_topics(history: WireHistory) -> Iterable[Finding]:
    """Finds clients that read a topic without any records while records come to a topic with a similar name that nobody reads."""
    similar = _similar(_known_topics(history))
    if not similar:  # so that the fetches of most records need not be read
        return
    unread = set(_topics_with_writes(history)) - {
        topic for client in history.clients for exchange in client.of("Fetch") for topic in exchange.topics
    }
    for client in history.clients if unread else ():
        for name, fetches in _empty(client).items():
            for other in [each for each in similar.get(name, ()) if each in unread][:1]:
                problem = f"the client reads {name}, which contains no records; no client reads {other}, to which records are written"
                advice = "correct the name; with auto.create.topics.enable, a broker creates the topic that a client asks for"
                settings = ("auto.create.topics.enable", "allow.auto.create.topics")
                yield Finding("a misspelt topic", str(client), problem, advice, settings, evidence(fetches))


def _similar(names: set[str]) -> dict[str, list[str]]:
    """Returns the names that have similar ones, with these. Names that differ only in numbers are meant to be similar."""
    found: dict[str, list[str]] = {}
    for name in names if len(names) ** 2 <= MAX_COMPARED else ():
        others = {each for each in names if _NUMBER.sub("", each) != _NUMBER.sub("", name)}
        if close := get_close_matches(name, others, 3, SIMILARITY):
            found[name] = close
    return found


def _topics_with_writes(history: WireHistory) -> Iterator[str]:
    """Yields the topics to which clients or the test have written records."""
    for client in history.clients:
        yield from (topic for exchange in client.of("Produce") if not exchange.errors for topic in exchange.topics)
    yield from (found[1] for event in history.events("control") if (found := _WRITES.fullmatch(event.text)) is not None)


def _empty(client: ClientHistory) -> dict[str, list[Exchange]]:
    """Returns the fetches of a client by their topics, of those topics that have never contained a record for it."""
    fetches: dict[str, list[Exchange]] = {}
    contain: set[str] = set()
    for exchange in client.of("Fetch"):
        if has_records(exchange) or any(found.high_watermark > 0 for _, found in fetches_of(exchange).values()):
            contain.update(exchange.topics)
        for topic in exchange.topics:
            fetches.setdefault(topic, []).append(exchange)
    return {topic: of_topic for topic, of_topic in fetches.items() if topic not in contain}


MANY, MANY_FAILED, WITHIN_MS = 20, 10, 10_000.0
MANY_PER_CONNECTION = 4
"""Below this number, it is many clients that start, not one that asks again and again."""


def metadata_storms(history: WireHistory) -> Iterable[Finding]:
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
            yield Finding("metadata storm", str(client), problem + _errors(storm), advice, settings, evidence(storm))


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
