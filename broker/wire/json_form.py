"""Entries as JSON: one object for each, and messages as objects of their fields.

With `frames`, an object also contains the bytes of the frames, without secrets, from which `entry_of` makes the entry again. A program that
follows the record of another process shows it by the same code in this way.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from ...protocol.schema import ZERO_UUID, Message, Spec, specs
from ..kafka_quirks.java_uuid import uuid_text
from .exchange import Entry, Event, Exchange, Frame, Moment
from .filters import duration_ms
from .labels import contents_label

MAX_SHOWN_BYTES = 4096
PUSH_REQUEST = "PushTelemetryRequest"
Json = dict[str, Any]


def json_of_entry(entry: Entry, *, verbose: bool = False, frames: bool = False) -> Json:
    """Returns the object for an entry. With `verbose`, it contains the decoded messages."""
    if isinstance(entry, Event):
        return {
            "kind": "event",
            "sequence": entry.sequence,
            "at": entry.at._asdict(),
            "event": entry.kind,
            "node": entry.node,
            "connection": entry.connection,
            "text": entry.text,
            "fields": dict(entry.fields),
        }
    form = _json_of_exchange(entry)
    if verbose:
        form["request"] = json_of_message(entry.request, entry.version)
        form["response"] = json_of_message(entry.response, entry.version)
    if frames:
        form["request_frame"] = _json_of_frame(entry.request_frame)
        form["response_frame"] = _json_of_frame(entry.response_frame)
        form["topic_names"] = {topic_id.hex(): name for topic_id, name in entry.resolved_names().items()}
    return form


def _json_of_exchange(exchange: Exchange) -> Json:
    errors = exchange.errors
    return {
        "kind": "exchange",
        "sequence": exchange.sequence,
        "node": exchange.node,
        "listener": exchange.listener,
        "connection": exchange.connection,
        "peer": exchange.peer,
        "client_id": exchange.client_id,
        "software": exchange.software,
        "principal": exchange.principal,
        "api": exchange.api,
        "api_key": exchange.api_key,
        "version": exchange.version,
        "correlation_id": exchange.correlation_id,
        "received": exchange.received._asdict(),
        "answered": None if exchange.answered is None else exchange.answered._asdict(),
        "written": None if exchange.written is None else exchange.written._asdict(),
        "duration_ms": duration_ms(exchange),
        "request_bytes": exchange.request_frame.size,
        "response_bytes": None if exchange.response_frame is None else exchange.response_frame.size,
        "topics": list(exchange.topics),
        "groups": list(exchange.groups),
        "error": errors[0] if errors else None,
        "errors": list(errors),
        "contents": "" if errors else contents_label(exchange),
        "waits": list(exchange.waits),
        "faults": list(exchange.faults),
        "ended": exchange.ended,
    }


def json_of_message(message: Message | None, version: int) -> Json | None:
    """Returns the fields of a message that its version has. None stays None."""
    if message is None:
        return None
    shown = [spec for spec in specs(type(message)) if spec.present(version)]
    form = {spec.name: _json_of_field(getattr(message, spec.name), spec, version) for spec in shown}
    if type(message).__name__ == PUSH_REQUEST:
        form["metrics"] = _json_of_metrics(form["compression_type"], bytes(message.metrics)) or form["metrics"]  # type: ignore[attr-defined]
    return form


def _json_of_metrics(compression_type: int, data: bytes) -> list[Json]:
    """Returns the metrics that a client pushes (KIP-714), [] if they cannot be read."""
    from ...protocol.otlp import InvalidMetrics, read_pushed

    try:
        metrics = read_pushed(compression_type, data)
    except (InvalidMetrics, ValueError):  # ValueError for an unknown codec
        return []
    return [{**metric._asdict(), "points": [point._asdict() for point in metric.points]} for metric in metrics]


def _json_of_field(value: Any, spec: Spec, version: int) -> Any:
    if spec.array and value is not None:
        return [_json_of_value(each, spec, version) for each in value]
    return _json_of_value(value, spec, version)


def _json_of_value(value: Any, spec: Spec, version: int) -> Any:
    if isinstance(value, Message):
        return json_of_message(value, version)
    if spec.kind == "16s" and isinstance(value, bytes):
        return None if value == ZERO_UUID else uuid_text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": len(value)} if spec.kind == "records" or len(value) > MAX_SHOWN_BYTES else {"base64": b64encode(value).decode()}
    return value


def _json_of_frame(frame: Frame | None) -> Json | None:
    return None if frame is None else {"base64": b64encode(frame.head).decode(), "size": frame.size}


def entry_of(form: Mapping[str, Any]) -> Entry:
    """Returns the entry of an object that was made with `frames`. Raises ValueError for another object."""
    try:
        return _event_of(form) if form["kind"] == "event" else _exchange_of(form)
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no entry of a record: {error!r}") from None


def _event_of(form: Mapping[str, Any]) -> Event:
    return Event(
        sequence=form["sequence"],
        at=Moment(**form["at"]),
        kind=form["event"],
        node=form["node"],
        connection=form["connection"],
        text=form["text"],
        fields=form["fields"],
    )


def _exchange_of(form: Mapping[str, Any]) -> Exchange:
    same = ("sequence", "node", "listener", "connection", "peer", "client_id", "software", "principal", "ended")
    return Exchange(
        **{name: form[name] for name in same},
        received=Moment(**form["received"]),
        answered=None if form["answered"] is None else Moment(**form["answered"]),
        written=None if form["written"] is None else Moment(**form["written"]),
        request_frame=Frame(b64decode(form["request_frame"]["base64"]), form["request_frame"]["size"]),
        response_frame=_frame_of(form["response_frame"]),
        waits=tuple(form["waits"]),
        faults=tuple(form["faults"]),
        topic_names={bytes.fromhex(topic_id): name for topic_id, name in form["topic_names"].items()},
    )


def _frame_of(form: Mapping[str, Any] | None) -> Frame | None:
    return None if form is None else Frame(b64decode(form["base64"]), form["size"])
