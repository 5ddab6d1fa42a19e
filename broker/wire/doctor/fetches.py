"""Consumers that fetch little: responses that end long before the partition does, and fetches that do not wait for records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from ....protocol.messages.fetch import FetchRequest, FetchResponse
from ....protocol.schema import Message
from ...plurals import counted
from ..exchange import HEAD_BYTES, Exchange
from .batches import headers
from .finding import Finding, densest, shown, span_s
from .history import History, received_ms

MANY_TINY, MANY_EMPTY, WITHIN_MS = 20, 50, 10_000.0
SHORT_WAIT_MS = 50


def tiny_fetches(history: History) -> Iterable[Finding]:
    """Finds consumers whose fetches return at most HEAD_BYTES, although the partition contains more."""
    for client in history.clients:
        tiny = densest([each for each in client.of("Fetch") if _is_cut_short(each)], received_ms, WITHIN_MS)
        if len(tiny) >= MANY_TINY:
            request = cast(FetchRequest, tiny[-1].request)
            each_bytes = max((partition.partition_max_bytes for topic in request.topics for partition in topic.partitions), default=0)
            limits = f"max_bytes={request.max_bytes}" + (f", partition_max_bytes={each_bytes}" if each_bytes else "")
            problem = f"{_count(tiny)} asked for so little ({limits}) that records were left"
            advice = "raise the limits of a fetch; with the defaults, 1 MiB for each partition, one fetch returns thousands of records"
            settings = ("max.partition.fetch.bytes", "fetch.message.max.bytes", "fetch.max.bytes")
            yield Finding("tiny fetches", str(client), problem, advice, settings, shown(tiny))


def hasty_fetches(history: History) -> Iterable[Finding]:
    """Finds consumers that fetch again and again without waiting for records."""
    for client in history.clients:
        empty = densest([each for each in client.of("Fetch") if _is_hasty(each)], received_ms, WITHIN_MS)
        if len(empty) >= MANY_EMPTY:
            request = cast(FetchRequest, empty[-1].request)
            problem = f"{_count(empty)} returned no records, because they waited at most {request.max_wait_ms} ms"
            advice = "let the broker wait for records; with the default of 500 ms an idle consumer sends two requests per second"
            yield Finding("tiny fetches", str(client), problem, advice, ("fetch.wait.max.ms", "fetch.max.wait.ms"), shown(empty))


def has_records(exchange: Exchange) -> bool:
    """Returns whether a response contains records, as far as the record contains the response."""
    return any(_end_offset(partition) >= 0 for partition in _partitions(exchange.partial_response))


def _count(exchanges: Sequence[Exchange]) -> str:
    return f"{counted(len(exchanges), 'fetch', 'fetches')} within {span_s(received_ms(exchanges[0]), received_ms(exchanges[-1]))}"


def _is_cut_short(exchange: Exchange) -> bool:
    """Returns whether a response is small, and its records end before the partition does."""
    if exchange.response_frame is None or exchange.response_frame.size > HEAD_BYTES or exchange.request is None:
        return False
    return any(0 <= _end_offset(partition) < partition.high_watermark for partition in _partitions(exchange.response))


def _is_hasty(exchange: Exchange) -> bool:
    request, response = exchange.request, exchange.response
    if not isinstance(request, FetchRequest) or not isinstance(response, FetchResponse) or exchange.errors:
        return False
    return request.max_wait_ms < SHORT_WAIT_MS and all(_end_offset(partition) < 0 for partition in _partitions(response))


def _partitions(response: Message | None) -> Iterator[Any]:
    if isinstance(response, FetchResponse):
        for topic in response.responses:
            yield from topic.partitions


def _end_offset(partition: Any) -> int:
    """Returns the offset after the last batch of a partition of a response, -1 if it has no batch."""
    ends = [header.last_offset + 1 for header in headers(partition.records)]
    return ends[-1] if ends else -1
