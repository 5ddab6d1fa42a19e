"""Mistakes with schemas, in entries of which each test has only those that it needs."""

from __future__ import annotations

from itertools import count
from random import Random
from typing import Any

import pytest

from odradek.broker.wire.doctor.examination import examine
from odradek.broker.wire.doctor.finding import MAX_LISTED, list_in_words
from odradek.broker.wire.exchange import Entry, Event, Exchange, Moment
from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.produce import (
    PRODUCE,
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.broker.harness import produce_request
from tests.broker.wire.made_exchanges import exchange

INCOMPATIBLE = "an incompatible schema"
UNKNOWN = "an unknown schema id"
WITHOUT = "records without a schema id"
STRATEGY = "a subject name strategy that does not fit"
AUTOMATIC = "automatic registration of schemas"
SCHEMAS = (INCOMPATIBLE, UNKNOWN, WITHOUT, STRATEGY, AUTOMATIC)
numbers = count(1)


def asked(request: str, status: int = 200, **fields: Any) -> Event:
    method, path = request.split(" ")
    parts = path.split("/")
    subject = {"subject": parts[2]} if parts[1] == "subjects" and len(parts) > 2 else {}
    given = {"method": method, "path": path, "status": status, "peer": "127.0.0.1:5000", "software": "python", **subject, **fields}
    return Event(sequence=next(numbers), at=Moment(1000.0, 2000.0), kind="schema registry", text=request, fields=given)


def registered(subject: str, schema_id: int, version: int = 1) -> Event:
    return asked(f"POST /subjects/{subject}/versions", id=schema_id, version=version)


def wrote(topic: str, *values: bytes | None, message: str = "", key: bytes | None = None, **options: Any) -> Exchange:
    """Returns a Produce with some values, refused with a message about its first record if there is one."""
    names: list[tuple[str, bytes | None]] = [(name, b"\1") for name in options.pop("headers", ())]
    head_bytes = options.pop("head_bytes", 4096)
    batch = bytes(build_batch([Record(number, 1000, key, value, names) for number, value in enumerate(values)], **options))
    errors = [BatchIndexAndErrorMessage(batch_index=0, batch_index_error_message=message)] if message else []
    partition = PartitionProduceResponse(index=0, error_code=87 if message else 0, base_offset=0, record_errors=errors)
    response = ProduceResponse(responses=[TopicProduceResponse(name=topic, partition_responses=[partition])])
    given = {"sequence": next(numbers), "client_id": "shop", "head_bytes": head_bytes}
    return exchange(PRODUCE, 9, produce_request(topic, batch), response, **given)


def framed(schema_id: int, data: bytes = b"x") -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + data


def problems(*entries: Entry, since: int = 0) -> dict[str, str]:
    """Returns the problems that concern schemas by the names of the findings."""
    return {finding.name: finding.problem for finding in examine(entries, since) if finding.name in SCHEMAS}


# Incompatible changes


def test_refused_registration_is_a_finding_of_its_subject() -> None:
    refused = [asked("POST /subjects/orders-value/versions", 409, message="a field has no default") for _ in range(2)]
    assert problems(*refused) == {INCOMPATIBLE: "2 registrations in the subject orders-value failed: a field has no default"}
    (finding,) = examine(refused)
    assert finding.client == "python at 127.0.0.1" and finding.entries == tuple(refused)


def test_check_of_compatibility_is_no_mistake() -> None:
    assert problems(asked("POST /compatibility/subjects/orders-value/versions", 200), registered("orders-value", 1)) == {}


def test_request_that_a_fault_has_hit_is_no_finding() -> None:
    assert problems(asked("POST /subjects/orders-value/versions", 409, fault="fault 1: status 409")) == {}


# Unknown ids


def test_unknown_id_is_a_finding_with_its_writer() -> None:
    missing = asked("GET /schemas/ids/7", 404, error_code=40403)
    wanted = "the schema registry has no schema with the id 7, for which 1 request asked"
    assert problems(missing) == {UNKNOWN: wanted}
    writer = f"{wanted}; shop at 127.0.0.1 has written records with it to orders"
    assert problems(wrote("orders", framed(7)), missing) == {UNKNOWN: writer}


def test_other_failures_to_get_a_schema_are_no_finding() -> None:
    assert problems(asked("GET /schemas/ids/7", 500, error_code=50001), asked("GET /schemas/guids/7", 404, error_code=40403)) == {}


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("the value has the schema id 7, which the schema registry does not have", UNKNOWN),
        ("the value does not begin with the byte 0 and a schema id", WITHOUT),
        ("the value has the schema id 7, which is not registered for the subject orders-value", STRATEGY),
    ],
)
def test_record_that_a_topic_refuses_is_a_finding(message: str, name: str) -> None:
    assert problems(wrote("orders", b"x", message=message)) == {name: f"1 record for orders failed with INVALID_RECORD: {message}"}


def test_record_refused_for_another_reason_is_no_finding() -> None:
    assert problems(wrote("orders", b"x", message="the timestamp is out of range")) == {}


# Records without an id

BARE = "the value of {} for orders has no schema id, although schemas are registered in the subject orders-value"


def test_bare_record_beside_schemas_is_a_finding() -> None:
    entries: list[Entry] = [registered("orders-value", 1), wrote("orders", b'{"id": 7}', b"\0\0\0"), wrote("other", b"x")]
    assert problems(*entries) == {WITHOUT: BARE.format("2 records")}
    assert problems(*entries[1:]) == {}


def test_schema_may_be_registered_by_a_control_or_earlier() -> None:
    fields: dict[str, str | int] = {"subject": "orders-value", "id": 1, "version": 1}
    control = Event(sequence=next(numbers), at=Moment(1.0, 1.0), kind="control", text="registering", fields=fields)
    bare = wrote("orders", b"x")
    assert problems(control, bare) == problems(control, bare, since=bare.sequence) == {WITHOUT: BARE.format("1 record")}


def test_key_needs_an_id_only_with_its_own_subject() -> None:
    entries: list[Entry] = [registered("orders-value", 1), wrote("orders", framed(1), key=b"7")]
    assert problems(*entries) == {}
    assert list(problems(registered(":.shop:orders-key", 2), *entries)) == [WITHOUT]


def test_null_and_ids_in_headers_need_no_magic_byte() -> None:
    assert problems(registered("orders-value", 1), wrote("orders", None), wrote("orders", b"x", headers=["__value_schema_id"])) == {}


def test_compressed_records_are_read() -> None:
    entries: list[Entry] = [registered("orders-value", 1), wrote("orders", b"x" * 50, compression=Compression.GZIP)]
    assert problems(*entries) == {WITHOUT: BARE.format("1 record")}


@pytest.mark.parametrize("options", [{}, {"compression": Compression.GZIP}])
def test_records_that_are_cut_off_are_left_out(options: dict[str, Any]) -> None:
    noise = Random(7).randbytes(3000)
    whole, cut = framed(1, noise), b"{" + noise
    assert problems(registered("orders-value", 1), wrote("orders", whole, cut, head_bytes=2000, **options)) == {}


# Subject name strategies


def test_schema_of_another_subject_is_a_finding() -> None:
    latest = asked("GET /subjects/orders-value/versions/latest", 404, error_code=40401)
    entries: list[Entry] = [registered("shop.Order", 1), wrote("orders", framed(1)), latest]
    wanted = (
        "the value of 1 record for orders has a schema of the subject shop.Order, "
        "but a client uses the subject orders-value, which does not have it"
    )
    assert problems(*entries) == {STRATEGY: wanted}
    assert problems(*entries[:2]) == {}
    assert problems(*entries, registered("orders-value", 1)) == {}


def test_subject_that_has_another_strategy_is_a_finding() -> None:
    missing = asked("GET /subjects/orders-shop.Order/versions/latest", 404, error_code=40401)
    wanted = "the schema registry has no subject orders-shop.Order, for which 1 request asked; it has orders-value"
    assert problems(registered("orders-value", 1), missing) == {STRATEGY: wanted}
    assert list(problems(asked("POST /subjects/orders-value", 404, error_code=40401), registered("orders-shop.Order", 1))) == [STRATEGY]


@pytest.mark.parametrize("other", ["payments-value", "orders-key", "orders-eu-value", "shop.Order"])
def test_missing_subject_beside_unrelated_ones_is_no_finding(other: str) -> None:
    assert problems(registered(other, 1), asked("GET /subjects/orders-value/versions/latest", 404, error_code=40401)) == {}


# Automatic registration


def test_registration_in_a_read_only_registry_is_a_finding() -> None:
    refused = asked("POST /subjects/orders-value/versions", 422, error_code=42205)
    wanted = "1 registration in the subject orders-value failed, because the registry does not allow them"
    assert problems(refused) == {AUTOMATIC: wanted}


def latest(schema_id: int) -> Event:
    return asked("GET /subjects/orders-value/versions/latest", id=schema_id, version=schema_id)


def test_producer_that_changes_latest_for_others_is_a_finding() -> None:
    first: list[Entry] = [registered("orders-value", 1), latest(1)]
    wanted = (
        "a producer has registered version 2 of orders-value and written records with it, but others use the latest version of the subject "
        "(1 request), which has changed for them"
    )
    assert problems(*first, registered("orders-value", 2, 2), wrote("orders", framed(2))) == {AUTOMATIC: wanted}


def test_schema_registered_before_it_is_asked_for_is_no_finding() -> None:
    assert problems(registered("orders-value", 1), registered("orders-value", 2, 2), latest(2), wrote("orders", framed(2))) == {}


def test_first_version_of_a_producer_is_no_finding() -> None:
    assert problems(registered("orders-value", 1), wrote("orders", framed(1)), latest(1)) == {}


def test_producers_without_readers_of_latest_are_no_finding() -> None:
    assert problems(registered("orders-value", 2, 2), wrote("orders", framed(2))) == {}


# Words


def test_long_lists_are_shortened() -> None:
    assert list_in_words(range(MAX_LISTED)) == "0, 1, 2, 3, 4"
    assert list_in_words(range(MAX_LISTED + 2)) == "0, 1, 2, 3, 4 and 2 more"
