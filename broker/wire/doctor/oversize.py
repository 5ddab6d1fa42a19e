"""Batches and requests that are larger than a broker accepts."""

from __future__ import annotations

from collections.abc import Iterable

from ...plurals import counted
from .finding import Finding, shown
from .history import History

SETTING = "socket.request.max.bytes"
_ERRORS = {"MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"}


def oversize_batches(history: History) -> Iterable[Finding]:
    """Finds producers whose batches were refused as too large."""
    for client in history.clients:
        refused = [exchange for exchange, errors in client.failed if exchange.api == "Produce" and _ERRORS.intersection(errors)]
        if refused:
            largest = max(exchange.request_frame.size for exchange in refused)
            topics = ", ".join(dict.fromkeys(topic for exchange in refused for topic in exchange.topics))
            problem = f"{len(refused)} Produce requests to {topics} were refused as too large; the largest has {largest} bytes"
            advice = "send smaller batches, or raise message.max.bytes of the broker or max.message.bytes of the topic"
            settings = ("message.max.bytes", "max.message.bytes", "max.request.size", "batch.size")
            yield Finding("oversize batches", str(client), problem, advice, settings, shown(refused))


def oversize_requests(history: History) -> Iterable[Finding]:
    """Finds clients whose connections were reset because they announced a request above socket.request.max.bytes.

    The broker reads only the length of such a request, so that the finding shows the requests before it and the end of the connection.
    """
    for client in history.clients:
        ended = [each for each in client.connections if each.ended_by_broker and SETTING in each.reason]
        worked = [each for each in ended if each.exchanges]
        if worked:
            problem = f"the broker closed {counted(len(worked), 'connection')}: {worked[-1].reason}"
            advice = "send smaller requests, or raise the broker's limit; a request contains the batches of several partitions"
            settings = (SETTING, "message.max.bytes", "max.request.size", "batch.size")
            entries = [entry for each in worked for entry in each.entries[-2:]]
            yield Finding("oversize requests", str(client), problem, advice, settings, shown(entries))
