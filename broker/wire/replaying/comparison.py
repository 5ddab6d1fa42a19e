"""Compares a response of a capture with the one that a broker has given now, field by field.

Ids that the broker has chosen are equal if they stand for each other (`ids.py`). Times, addresses and numbers that depend on the cluster
are not compared, and records are compared without their timestamps and compression. Items of a list are compared with those that have the
same name or id, wherever they are (`pairs.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....protocol.batches.records import batches
from ....protocol.errors import ErrorCode
from ....protocol.schema import Message, ProtocolError, Spec, specs
from ...plurals import counted
from .ids import Ids, kind_of, pair_items

NOT_COMPARED = {
    *("throttle_time_ms", "log_append_time_ms", "session_lifetime_ms", "transaction_start_time_ms", "last_timestamp"),  # times
    *("issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms", "issue_timestamp", "expiry_timestamp", "max_timestamp"),
    *("host", "port", "rack", "client_host", "brokers", "node_endpoints", "cluster_id", "controller_id", "node_id"),  # the cluster
    *("leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "offline_replicas", "preferred_read_replica", "broker_epoch"),
    *("eligible_leader_replicas", "last_known_elr", "current_leader", "total_bytes", "usable_bytes", "log_dir"),
    *("finalized_features_epoch", "supported_features", "finalized_features", "api_keys", "token_id", "hmac", "error_message"),
}
"""The fields that may differ between two runs without meaning anything. `error_message` is a text for humans."""
MAX_DIFFERENCES = 20
MAX_CHARACTERS = 80


def differences(recorded: Message, live: Message, version: int, ids: Ids) -> list[str]:
    """Returns the differences between two responses of the same API and version, at most MAX_DIFFERENCES."""
    found = _differences(recorded, live, version, ids, "")
    return [difference for difference, _ in zip(found, range(MAX_DIFFERENCES), strict=False)]


def _differences(recorded: Message, live: Message, version: int, ids: Ids, path: str) -> Iterator[str]:
    for spec in specs(type(recorded)):
        if spec.present(version) and spec.name not in NOT_COMPARED:
            before, now = getattr(recorded, spec.name), getattr(live, spec.name)
            yield from _of_field(spec, before, now, version, ids, f"{path}{spec.name}")


def _of_field(spec: Spec, before: Any, now: Any, version: int, ids: Ids, path: str) -> Iterator[str]:
    if before is None or now is None:
        if before is not now:
            yield f"{path}: {_show(spec, before)} was recorded, now {_show(spec, now)}"
    elif spec.array:
        if len(before) != len(now):
            yield f"{path}: {counted(len(before), 'item was', 'items were')} recorded, now {len(now)}"
        item = spec._replace(array=False)
        for number, one, other in pair_items(item, before, now, ids.live):
            yield from _of_field(item, one, other, version, ids, f"{path}[{number}]")
    elif isinstance(spec.kind, type):
        yield from _differences(before, now, version, ids, f"{path}.")
    elif not _same(spec, before, now, ids):
        yield f"{path}: {_show(spec, before)} was recorded, now {_show(spec, now)}"


def _same(spec: Spec, before: Any, now: Any, ids: Ids) -> bool:
    if spec.kind == "records":
        return _contents(before) == _contents(now)
    kind = kind_of(spec)
    return bool((before if kind is None else ids.live(kind, before)) == now)


def _contents(records: Any) -> object:
    """Returns what record batches contain: offsets, keys, values and headers. Bytes that are not batches are returned as they are."""
    data = bytes(records)
    try:
        return [(record.offset, record.key, record.value, record.headers) for batch in batches(data) for record in batch.records()]
    except ProtocolError:
        return data


def _show(spec: Spec, value: Any) -> str:
    if spec.name.endswith("error_code") and isinstance(value, int):
        known = value in ErrorCode._value2member_map_
        return ErrorCode(value).name if known else str(value)
    if spec.kind == "records" and value is not None:
        contents = _contents(value)
        return counted(len(contents), "record") if isinstance(contents, list) else counted(len(bytes(value)), "byte")
    text = repr(value)
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}..."
