"""Responses to requests that fail as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.failure import failure
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import APIS
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.schema import Api, Message, specs


def error_codes(message: Message) -> list[int]:
    """Returns all error codes in a response, including those of nested items."""
    found = []
    for spec in specs(type(message)):
        value = getattr(message, spec.name)
        if spec.name.endswith("error_code"):
            found.append(value)
        elif spec.array and isinstance(spec.kind, type):
            found += [code for item in value or [] for code in error_codes(item)]
    return found


def example(cls: type[Message], version: int) -> Message:
    """Returns a request with one item in every list."""
    values: dict[str, Any] = {}
    for spec in specs(cls):
        if isinstance(spec.kind, type):
            item: Any = example(spec.kind, version)
        else:
            item = {"str": "x", "bytes": b"x", "records": b"x", "16s": b"x" * 16, "?": True}.get(spec.kind, 7)
        present = spec.present(version)
        values[spec.name] = ([item] if present else []) if spec.array else item if present and not isinstance(spec.kind, type) else None
        if values[spec.name] is None:
            del values[spec.name]
    return cls(**values)


@pytest.mark.parametrize(("api", "version"), [(api, v) for api in APIS.values() for v in range(api.versions.first, api.versions.last + 1)])
def test_failure_has_the_error_in_every_item(api: Api, version: int) -> None:
    response = failure(api, example(api.request, version), ErrorCode.UNKNOWN_SERVER_ERROR, "a bug")
    codes = error_codes(api.response.decode(version, response.encode(version)))
    assert codes
    assert set(codes) <= {-1, 0}
    assert -1 in codes


def test_failure_has_the_items_of_the_request() -> None:
    request = example(PRODUCE.request, 9)
    response: Any = failure(PRODUCE, request, ErrorCode.UNKNOWN_SERVER_ERROR, "a bug")
    (topic,) = response.responses
    (partition,) = topic.partition_responses
    assert (topic.name, partition.index, partition.error_code, partition.error_message) == ("x", 7, -1, "a bug")
