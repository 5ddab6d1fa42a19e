"""Records that are lost, because a producer with acks=0 does not learn that a broker refused them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ....protocol.messages.produce import ProduceRequest
from ...plurals import counted
from ..exchange import Exchange
from .batches import sent_batches
from .finding import Finding, shown
from .history import Connection, History

TOO_LARGE = re.compile(r"message\.max\.bytes|MESSAGE_TOO_LARGE")


def losses_without_acks(history: History) -> Iterable[Finding]:
    """Finds Produce requests with acks=0 that made the broker close the connection, its only answer to them."""
    for client in history.clients:
        ended = [each for each in client.connections if not history.excuses(*each.entries[-2:])]
        lost = [exchange for each in ended if (exchange := _lost(each)) is not None]
        if not lost:
            continue
        reason = next((exchange.ended for exchange in lost if exchange.ended), "FIN by the broker")
        records = sum(batch.header.records_count for exchange in lost for batch in sent_batches(exchange))
        sizes = f", the largest request has {max(exchange.request_frame.size for exchange in lost)} bytes"
        count = counted(records, "record is", "records are")
        problem = f"{count} lost without an error, because acks=0 asks for no response ({reason}{sizes})"
        if TOO_LARGE.search(reason):
            advice = "use acks=1 or all, so that the client reports the error; keep its batches below the broker's message.max.bytes"
            settings: tuple[str, ...] = ("acks", "message.max.bytes", "max.request.size", "batch.size")
        else:
            advice, settings = "use acks=1 or all, so that the client learns of errors and sends the records again", ("acks",)
        yield Finding("losses with acks=0", str(client), problem, advice, settings, shown(lost))


def _lost(connection: Connection) -> Exchange | None:
    """Returns the request with acks=0 for which the broker has closed a connection, if there is one."""
    last = connection.exchanges[-1] if connection.exchanges else None
    if last is None or not connection.ended_by_broker or last.api != "Produce":
        return None
    if "acks=0" in last.ended or "acks=0" in connection.reason:
        return last
    request = last.partial_request
    known = bool(last.ended) or "setting" not in (connection.closed.fields if connection.closed is not None else {})
    return last if known and isinstance(request, ProduceRequest) and request.acks == 0 else None
