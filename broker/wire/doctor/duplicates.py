"""Records that are in a partition twice, because a producer without idempotence has sent a batch again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...plurals import counted
from ..exchange import Exchange
from .batches import Sent, sent_batches
from .finding import Finding, shown
from .history import Client, History

_UNDECIDED = {"REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"}
"""The errors with which a broker answers although it has appended the batch."""
_NO_PRODUCER_ID = -1
SHORTEST_TIME_OUT_MS = 1000.0
"""No client waits less for a response before it sends a request again on another connection."""


class Attempt(NamedTuple):
    """A batch in a request. The same records, times and attributes give the same CRC and length."""

    exchange: Exchange
    batch: Sent

    @property
    def identity(self) -> tuple[object, ...]:
        header = self.batch.header
        return self.batch.topic, self.batch.partition, header.crc, header.batch_length, header.base_timestamp, header.max_timestamp


def duplicates(history: History) -> Iterable[Finding]:
    """Finds batches that were appended, of which the producer did not learn, and which it has sent again."""
    for client in history.clients:
        pairs = list(_repeated(client))
        if pairs:
            records = sum(second.batch.header.records_count for _, second in pairs)
            where = ", ".join(dict.fromkeys(f"{second.batch.topic}-{second.batch.partition}" for _, second in pairs))
            count = counted(records, "record is", "records are")
            problem = f"{count} in {where} twice, because the acknowledgement did not arrive and the producer repeated the request"
            advice = "make the producer idempotent; brokers then recognise a batch that they have appended already"
            entries = [attempt.exchange for pair in pairs for attempt in pair]
            settings = ("enable.idempotence", "acks", "retries")
            yield Finding("duplicates for lack of idempotence", str(client), problem, advice, settings, shown(entries))


def _repeated(client: Client) -> Iterator[tuple[Attempt, Attempt]]:
    """Yields pairs of attempts to write the same batch, of which both were successful."""
    first: dict[tuple[object, ...], Attempt] = {}
    for exchange in client.of("Produce"):
        for batch in sent_batches(exchange):
            attempt = Attempt(exchange, batch)
            if batch.header.producer_id != _NO_PRODUCER_ID or not _may_be_appended(exchange):
                continue
            before = first.setdefault(attempt.identity, attempt)
            if before is not attempt and _was_lost(before.exchange, exchange):
                yield before, attempt


def _may_be_appended(exchange: Exchange) -> bool:
    """Returns whether the records of a request are in the log, as far as its answer says. With acks=0, no client sends them again."""
    return getattr(exchange.partial_request, "acks", 0) != 0 and (not exchange.errors or bool(_UNDECIDED.intersection(exchange.errors)))


def _was_lost(first: Exchange, second: Exchange) -> bool:
    """Returns whether the client did not learn in time that the first request was successful, before it sent the second one.

    Records with the same contents and times in two batches are no repetition if their client sent both at about the same time.
    """
    if first.errors or first.faults or first.response_frame is None:
        return True
    return first.connection != second.connection and second.received.wall_ms - first.received.wall_ms >= SHORTEST_TIME_OUT_MS
