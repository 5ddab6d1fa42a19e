"""Records that a producer loses, writes twice or cannot write: acks=0, repetitions without idempotence, and requests that are too large."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ....protocol.messages.produce import ProduceRequest
from ...plurals import counted
from ..exchange import Exchange
from .contents import FirstBatch, batches_of
from .finding import Finding, evidence
from .history import ClientHistory, ConnectionHistory, WireHistory

TOO_LARGE = re.compile(r"message\.max\.bytes|MESSAGE_TOO_LARGE")


def losses_without_acks(history: WireHistory) -> Iterable[Finding]:
    """Finds Produce requests with acks=0 that made the broker close the connection, its only answer to them."""
    for client in history.clients:
        ended = [each for each in client.connections if not history.excuses(*each.entries[-2:])]
        lost = [exchange for each in ended if (exchange := _lost_request(each)) is not None]
        if not lost:
            continue
        reason = next((exchange.ended for exchange in lost if exchange.ended), "FIN by the broker")
        records = sum(batch.header.records_count for exchange in lost for batch in batches_of(exchange))
        sizes = f", the largest request has {max(exchange.request_frame.size for exchange in lost)} bytes"
        count = counted(records, "record is", "records are")
        problem = f"{count} lost without an error, because acks=0 asks for no response ({reason}{sizes})"
        if TOO_LARGE.search(reason):
            advice = "use acks=1 or all, so that the client reports the error; keep its batches below the broker's message.max.bytes"
            settings: tuple[str, ...] = ("acks", "message.max.bytes", "max.request.size", "batch.size")
        else:
            advice, settings = "use acks=1 or all, so that the client learns of errors and sends the records again", ("acks",)
        yield Finding("losses with acks=0", str(client), problem, advice, settings, evidence(lost))


def _lost_request(connection: ConnectionHistory) -> Exchange | None:
    """Returns the request with acks=0 for which the broker has closed a connection, if there is one."""
    last = connection.exchanges[-1] if connection.exchanges else None
    if last is None or not connection.ended_by_broker or last.api != "Produce":
        return None
    if "acks=0" in last.ended or "acks=0" in connection.reason:
        return last
    request = last.partial_request
    known = bool(last.ended) or "setting" not in (connection.closed.fields if connection.closed is not None else {})
    return last if known and isinstance(request, ProduceRequest) and request.acks == 0 else None


_UNDECIDED = {"REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"}
"""The errors with which a broker answers although it has appended the batch."""
_NO_PRODUCER_ID = -1
MIN_TIME_OUT_MS = 1000.0
"""No client waits less for a response before it sends a request again on another connection."""


class Attempt(NamedTuple):
    """A batch in a request. The same records, times and attributes give the same CRC and length."""

    exchange: Exchange
    batch: FirstBatch

    @property
    def identity(self) -> tuple[object, ...]:
        header = self.batch.header
        return self.batch.topic, self.batch.partition, header.crc, header.batch_length, header.base_timestamp, header.max_timestamp


def duplicates(history: WireHistory) -> Iterable[Finding]:
    """Finds batches that were appended, of which the producer did not learn, and which it has sent again."""
    for client in history.clients:
        pairs = list(_repetitions(client))
        if pairs:
            records = sum(second.batch.header.records_count for _, second in pairs)
            where = ", ".join(dict.fromkeys(f"{second.batch.topic}-{second.batch.partition}" for _, second in pairs))
            count = counted(records, "record is", "records are")
            problem = f"{count} in {where} twice, because the acknowledgement did not arrive and the producer repeated the request"
            advice = "make the producer idempotent; brokers then recognise a batch that they have appended already"
            entries = [attempt.exchange for pair in pairs for attempt in pair]
            settings = ("enable.idempotence", "acks", "retries")
            yield Finding("duplicates for lack of idempotence", str(client), problem, advice, settings, evidence(entries))


def _repetitions(client: ClientHistory) -> Iterator[tuple[Attempt, Attempt]]:
    """Yields pairs of attempts to write the same batch, of which both were successful."""
    first: dict[tuple[object, ...], Attempt] = {}
    for exchange in client.of("Produce"):
        for batch in batches_of(exchange):
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

    Records with the same contents and times in two batches do not count as a repetition if their client sent both at about the same time.
    """
    if first.errors or first.faults or first.response_frame is None:
        return True
    return first.connection != second.connection and second.received.wall_ms - first.received.wall_ms >= MIN_TIME_OUT_MS


REQUEST_SETTING = "socket.request.max.bytes"
_TOO_LARGE = {"MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"}


def oversize_batches(history: WireHistory) -> Iterable[Finding]:
    """Finds producers whose batches were refused as too large."""
    for client in history.clients:
        refused = [exchange for exchange, errors in client.failures if exchange.api == "Produce" and _TOO_LARGE.intersection(errors)]
        if refused:
            largest = max(exchange.request_frame.size for exchange in refused)
            topics = ", ".join(dict.fromkeys(topic for exchange in refused for topic in exchange.topics))
            requests = counted(len(refused), f"Produce request to {topics} was", f"Produce requests to {topics} were")
            problem = f"{requests} refused as too large; the largest has {largest} bytes"
            advice = "send smaller batches, or raise message.max.bytes of the broker or max.message.bytes of the topic"
            settings = ("message.max.bytes", "max.message.bytes", "max.request.size", "batch.size")
            yield Finding("oversize batches", str(client), problem, advice, settings, evidence(refused))


def oversize_requests(history: WireHistory) -> Iterable[Finding]:
    """Finds clients whose connections were reset because they announced a request above socket.request.max.bytes.

    The broker reads only the length of such a request, so that the finding shows the requests before it and the end of the connection.
    """
    for client in history.clients:
        ended = [each for each in client.connections if each.ended_by_broker and REQUEST_SETTING in each.reason]
        worked = [each for each in ended if each.exchanges]
        if worked:
            problem = f"the broker closed {counted(len(worked), 'connection')}: {worked[-1].reason}"
            advice = "send smaller requests, or raise the broker's limit; a request contains the batches of several partitions"
            settings = (REQUEST_SETTING, "message.max.bytes", "max.request.size", "batch.size")
            entries = [entry for each in worked for entry in each.entries[-2:]]
            yield Finding("oversize requests", str(client), problem, advice, settings, evidence(entries))
