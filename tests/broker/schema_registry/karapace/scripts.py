"""Scripts of requests to a schema registry. The subjects of a script are its own; it leaves the global config and mode as they were.

`{id}` in a path stands for the id in the first answer of the script that contains one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

LEVELS = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")


class Request(NamedTuple):
    """A request with its body, None for one without."""

    line: str
    body: Any = None


class Script(NamedTuple):
    """Requests that follow each other. `name` is the beginning of its subjects."""

    name: str
    requests: list[Request]


def avro(*fields: Any, name: str = "Order", **extra: Any) -> str:
    """Returns an Avro record. A field is a name, whose type is int, a pair of name and type, or with a default."""
    return json.dumps({"type": "record", "name": name, "fields": [_field(each) for each in fields], **extra})


def _field(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        return {"name": given, "type": "int"}
    name, kind, *default = given
    return {"name": name, "type": kind, **({"default": default[0]} if default else {})}


def enum(*symbols: str, **extra: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "Colour", "symbols": list(symbols), **extra}


PAIRS = {
    "field-added": (avro("id"), avro("id", "total")),
    "field-added-with-default": (avro("id"), avro("id", ("total", "int", 0))),
    "field-removed": (avro("id", "total"), avro("id")),
    "field-with-default-removed": (avro("id", ("total", "int", 0)), avro("id")),
    "field-renamed": (avro("id"), avro("number")),
    "field-renamed-with-alias": (
        avro("id"),
        json.dumps({"type": "record", "name": "Order", "fields": [{"name": "number", "type": "int", "aliases": ["id"]}]}),
    ),
    "int-to-long": (avro("id"), avro(("id", "long"))),
    "long-to-int": (avro(("id", "long")), avro("id")),
    "string-to-bytes": (avro(("id", "string")), avro(("id", "bytes"))),
    "int-to-string": (avro("id"), avro(("id", "string"))),
    "type-to-union": (avro("id"), avro(("id", ["null", "int"]))),
    "union-to-type": (avro(("id", ["null", "int"])), avro("id")),
    "union-widened": (avro(("id", ["null", "int"])), avro(("id", ["null", "int", "string"]))),
    "enum-symbol-added": (avro(("c", enum("RED"))), avro(("c", enum("RED", "BLUE")))),
    "enum-symbol-removed": (avro(("c", enum("RED", "BLUE"))), avro(("c", enum("RED")))),
    "enum-with-default": (avro(("c", enum("RED", "BLUE"))), avro(("c", enum("RED", default="RED")))),
    "fixed-size": (avro(("f", {"type": "fixed", "name": "F", "size": 4})), avro(("f", {"type": "fixed", "name": "F", "size": 8}))),
    "array-items": (avro(("a", {"type": "array", "items": "int"})), avro(("a", {"type": "array", "items": "string"}))),
    "map-values": (avro(("m", {"type": "map", "values": "int"})), avro(("m", {"type": "map", "values": "long"}))),
    "record-renamed": (avro("id"), avro("id", name="Invoice")),
    "only-the-documentation": (avro("id"), avro("id", doc="an order")),
}
"""Two versions of a schema, by what changes."""


def scripts() -> Iterator[Script]:
    """Yields all scripts."""
    for number, level in enumerate(LEVELS):
        for change, (old, new) in PAIRS.items():
            yield _evolution(f"{change}-{number}", level, old, new)
    yield from (Script(name, requests) for name, requests in ENDPOINTS.items())


def _evolution(subject: str, level: str, old: str, new: str) -> Script:
    requests = [
        Request(f"PUT /config/{subject}", {"compatibility": level}),
        Request(f"POST /subjects/{subject}/versions", {"schema": old}),
        Request(f"POST /compatibility/subjects/{subject}/versions/latest", {"schema": new}),
        Request(f"POST /subjects/{subject}/versions", {"schema": new}),
        Request(f"GET /subjects/{subject}/versions"),
    ]
    return Script(subject, requests)


def _register(subject: str, schema: str = '"int"', **members: Any) -> Request:
    return Request(f"POST /subjects/{subject}/versions", {"schema": schema, **members})


CUSTOMER, ORDER = (
    avro("id", name="Customer"),
    json.dumps({"type": "record", "name": "Order", "fields": [{"name": "by", "type": "Customer"}]}),
)
REFERENCE = {"name": "Customer", "subject": "refs-customer", "version": 1}

ENDPOINTS = {
    "reading": [
        _register("reading", avro("id", name="Reading")),
        _register("reading", avro("id", ("total", "int", 0), name="Reading")),
        *(Request(f"GET /subjects/reading/versions{rest}") for rest in ("", "/1", "/2", "/latest", "/-1", "/1/schema", "/2/referencedby")),
        *(Request(f"GET /subjects/reading/versions/{each}") for each in ("0", "-2", "3", "99", "two", "1.5")),
        *(Request(f"GET /subjects/reading/versions/{each}/schema") for each in ("0", "3", "two")),
        *(Request(f"GET /schemas/ids/{{id}}{rest}") for rest in ("", "/versions", "/subjects", "?fetchMaxId=true", "?subject=reading")),
        *(Request(f"GET /schemas/ids/{each}") for each in ("987654", "0")),
        Request("GET /schemas/ids/987654/versions"),
        Request("GET /subjects/reading-missing/versions"),
        Request("GET /subjects/reading-missing/versions/1"),
        Request("GET /schemas/types"),
    ],
    "lookups": [
        _register("lookups", avro("id", name="Lookup")),
        Request("POST /subjects/lookups", {"schema": avro("id", name="Lookup")}),
        Request("POST /subjects/lookups", {"schema": avro("other", name="Lookup")}),
        Request("POST /subjects/lookups-missing", {"schema": avro("id", name="Lookup")}),
        Request("POST /subjects/lookups", {"schema": json.dumps(json.loads(avro("id", name="Lookup")), indent=2)}),
        _register("lookups", avro("id", name="Lookup")),
        _register("lookups-other", avro("id", name="Lookup")),
        Request("GET /schemas/ids/{id}/versions"),
    ],
    "deletion": [
        _register("deletion"),
        _register("deletion", '"long"'),
        Request("DELETE /subjects/deletion/versions/1?permanent=true"),
        Request("DELETE /subjects/deletion/versions/1"),
        Request("DELETE /subjects/deletion/versions/1"),
        Request("GET /subjects/deletion/versions"),
        Request("GET /subjects/deletion/versions?deleted=true"),
        Request("GET /subjects/deletion/versions/1"),
        Request("GET /subjects/deletion/versions/1?deleted=true"),
        Request("DELETE /subjects/deletion/versions/1?permanent=true"),
        Request("GET /subjects/deletion/versions?deleted=true"),
        Request("DELETE /subjects/deletion/versions/7"),
        Request("DELETE /subjects/deletion/versions/zero"),
        Request("DELETE /subjects/deletion?permanent=true"),
        Request("DELETE /subjects/deletion"),
        Request("DELETE /subjects/deletion"),
        Request("GET /subjects/deletion/versions"),
        Request("DELETE /subjects/deletion?permanent=true"),
        Request("DELETE /subjects/deletion"),
        Request("DELETE /subjects/deletion-missing"),
        Request("DELETE /subjects/deletion-missing?permanent=true"),
        Request("DELETE /subjects/deletion-missing/versions/1"),
        _register("deletion"),
    ],
    "again": [
        _register("again"),
        Request("DELETE /subjects/again"),
        _register("again"),
        Request("GET /subjects/again/versions"),
        Request("GET /subjects/again/versions?deleted=true"),
    ],
    "refs": [
        _register("refs-customer", CUSTOMER),
        _register("refs-order", ORDER, references=[REFERENCE]),
        Request("GET /subjects/refs-order/versions/1"),
        Request("GET /schemas/ids/{id}"),
        Request("GET /subjects/refs-customer/versions/1/referencedby"),
        Request("POST /subjects/refs-order", {"schema": ORDER, "references": [REFERENCE]}),
        _register("refs-order", ORDER, references=[REFERENCE]),
        _register("refs-missing", ORDER),
        _register("refs-missing", ORDER, references=[{**REFERENCE, "version": 9}]),
        _register("refs-missing", ORDER, references=[{**REFERENCE, "subject": "refs-none"}]),
        Request("DELETE /subjects/refs-customer/versions/1"),
        Request("DELETE /subjects/refs-customer"),
        Request("DELETE /subjects/refs-order"),
        Request("DELETE /subjects/refs-customer"),
    ],
    "settings": [
        Request("GET /config"),
        Request("GET /config/settings"),
        Request("GET /config/settings?defaultToGlobal=true"),
        *(Request("PUT /config/settings", {"compatibility": level}) for level in LEVELS),
        Request("GET /config/settings"),
        Request("PUT /config/settings", {"compatibility": "SIDEWARD"}),
        Request("PUT /config/settings", {"compatibility": "forward"}),
        Request("DELETE /config/settings"),
        Request("GET /config/settings"),
        Request("PUT /config", {"compatibility": "FULL"}),
        Request("GET /config"),
        Request("GET /config/settings?defaultToGlobal=true"),
        Request("PUT /config", {"compatibility": "BACKWARD"}),
        Request("PUT /config", {"compatibility": "SIDEWARD"}),
        Request("GET /mode"),
        Request("GET /mode/settings"),
        Request("GET /mode/settings?defaultToGlobal=true"),
    ],
    "invalid": [
        _register("invalid", "{"),
        _register("invalid", '"unknown"'),
        _register("invalid", ""),
        _register("invalid", json.dumps({"type": "record", "name": "A"})),
        _register("invalid", json.dumps({"type": "record", "fields": []})),
        _register("invalid", json.dumps({"type": "fixed", "name": "F"})),
        _register("invalid", json.dumps({"type": "array"})),
        _register("invalid", json.dumps(["int", "int"])),
        _register("invalid", avro(("a", "Missing"))),
        _register("invalid", avro("a", "a")),
        _register("invalid", schemaType="XML"),
        Request("POST /subjects/invalid/versions", {}),
        Request("POST /subjects/invalid/versions", []),
        Request("POST /subjects/invalid", {"schema": "{"}),
        Request("POST /compatibility/subjects/invalid/versions/latest", {"schema": '"int"'}),
        Request("POST /compatibility/subjects/invalid/versions/1", {"schema": '"int"'}),
        Request("POST /compatibility/subjects/invalid/versions/zero", {"schema": '"int"'}),
        Request("GET /nothing"),
        Request("PATCH /subjects"),
        Request("GET /"),
    ],
    "checks": [
        _register("checks", avro("id")),
        Request("POST /compatibility/subjects/checks/versions/1", {"schema": avro("id", "total")}),
        Request("POST /compatibility/subjects/checks/versions/latest?verbose=true", {"schema": avro("id", "total")}),
        Request("POST /compatibility/subjects/checks/versions/latest?verbose=true", {"schema": avro("id", ("total", "int", 0))}),
        Request("POST /compatibility/subjects/checks/versions", {"schema": avro("id", ("total", "int", 0))}),
        Request("POST /compatibility/subjects/checks/versions/2", {"schema": avro("id")}),
        Request("POST /compatibility/subjects/checks/versions/latest", {"schema": "{"}),
    ],
    "canonical": [
        *(
            step
            for text in (
                '{"type":"int"}', '{ "type" : "record" , "name":"A","namespace":"n","fields":[]}', '["null","string"]',
                '{"type":"map","values":{"type":"array","items":"int"}}', '{"type":"enum","name":"E","symbols":["A"],"doc":"d","x":1}',
            )
            for step in (_register(f"canonical-{len(text)}", text), Request(f"GET /subjects/canonical-{len(text)}/versions/1/schema"))
        ),
    ],
}  # fmt: skip
