"""Generator of docs/controls.md and of the pages in docs/controls/ from the declarations of all controls.

The first page has the table of all controls. Each family, the controls with the same first word, has a page, and so have the types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from odradek.broker.controls import cluster_controls  # noqa: F401  (declares the controls)
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.broker.controls.interface.command_line import command_of, names_in_order
from odradek.broker.controls.interface.examples import example_of
from odradek.broker.controls.interface.results import json_of, result_schema
from odradek.broker.controls.interface.shapes import IsoTime, Schema
from odradek.broker.controls.interface.signatures import Parameter, parameters_of, python_only_of, result_of

INTRODUCTION = (
    "# Controls",
    "A control is an operation on a running cluster that Kafka clients cannot request, such as stopping a node or moving the time. Each is"
    " available in three ways.",
    "* **Python**: methods of `Cluster`, which block, and of `AsyncCluster`, which are awaited.\n"
    "* **HTTP**: `odradek serve --control 127.0.0.1:9099`, or `Cluster(control=\"127.0.0.1:0\")` and its property `control`. A control that"
    " only reads is a GET with its parameters in the query. Every other control is a POST with a JSON object. `/openapi.json` describes all"
    " routes (OpenAPI 3.1).\n"
    "* **Command line**: `odradek ctl`, with the address in `--control` or `ODRADEK_CONTROL`, by default 127.0.0.1:9099."
    " `--output json` prints JSON instead of a table.",
    "## Values",
    "* A duration is a number of seconds, or a number with `ms`, `s`, `m`, `h`, `d` or `w`, such as `10m`. Parameters whose names end with"
    " a unit (`timeout_s`, `delay_ms`) are plain numbers.\n"
    "* A time is written in ISO 8601. Without a time zone it is local time.\n"
    "* Bytes, such as keys and values of records, are JSON strings if they are UTF-8, and `{\"base64\": \"...\"}` otherwise.\n"
    "* On the command line and in a query, lists are repeated (`--api Produce --api Fetch`), a mapping is `name=value`, and other"
    " structures are JSON.",
    "## Errors",
    "An invalid argument has no effect. The error names the parameter and the nearest valid name.",
    "| what | Python | HTTP | exit code of `odradek ctl` |\n|---|---|---|---|\n"
    "| an argument is invalid | `InvalidControl`, a ValueError | 400, with `parameter` | 2 |\n"
    "| the cluster refused a valid request | `ControlRefused`, a RuntimeError | 409, with `code` | 1 |\n"
    "| a condition did not become true in time | `ControlTimeout`, a TimeoutError | 504 | 1 |\n"
    "| no cluster answers | | | 1 |\n"
    "| unknown path, method, body too large, not JSON | | 404, 405, 413, 415 | 2 |\n"
    "| no or wrong token; foreign Host or Origin | | 401, 403 | 2 |",
    "Errors over HTTP are problem details (RFC 9457, `application/problem+json`) whose `detail` is the message. A client that closes its"
    " connection ends a wait. A control that changes the cluster is completed.",
    "## Access",
    "Without a token, the listener must have a loopback address, and every program of this machine may use it. With `--control-token` or"
    " `ODRADEK_CONTROL_TOKEN`, in Python `control_token`, requests need the header `Authorization: Bearer TOKEN`, and the listener may have"
    " any address. The listener does not use TLS, so that others on the network can read the token.",
    "Web pages have no access: a request is refused if its `Host` is not the listener's (DNS rebinding), or its `Origin` is another page.",
)  # fmt: skip


PAGE, FOLDER, TYPES = "docs/controls.md", "controls", "types"


def pages() -> dict[str, str]:
    """Returns the text of each page by its path in the repository."""
    definitions: dict[str, Schema] = {}
    found: dict[str, list[str]] = {}
    families = {family: list(each) for family, each in groupby(sorted(CONTROLS.values(), key=_family), _family)}
    for family, controls in families.items():
        found[family] = [f"# {family} controls", f"[All controls](../{FOLDER}.md) explains values, errors and access."]
        for control in controls:
            found[family] += _section(control, definitions)
    found[TYPES] = ["# Types", "The fields of results and of structured parameters."]
    for name, schema in sorted(definitions.items()):
        found[TYPES] += _type_section(name, schema)
    texts = {f"docs/{FOLDER}/{name}.md": parts for name, parts in found.items()}
    contents = "\n".join(["```{toctree}", ":hidden:", "", *(f"{FOLDER}/{name}" for name in found), "```"])
    texts[PAGE] = [*INTRODUCTION, "## All controls", _table(families), f"[Types]({FOLDER}/{TYPES}.md) has the fields of results.", contents]
    return {name: "\n\n".join(parts) + "\n" for name, parts in texts.items()}


def _table(families: Mapping[str, Iterable[Control]]) -> str:
    rows = [
        f"| [{' '.join(control.words)}]({FOLDER}/{family}.md#{'-'.join(control.words)}) | `{python_call(control, example_of(control))}` |"
        f" {_first_sentence(control.help)} |"
        for family, controls in families.items()
        for control in controls
    ]
    return "\n".join(["| control | in Python | effect |", "|---|---|---|", *rows])


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


def _family(control: Control) -> str:
    return control.words[0]


def _section(control: Control, definitions: dict[str, Schema]) -> list[str]:
    parts = [f"## {' '.join(control.words)}", control.help]
    rows = [_row(each, definitions) for each in parameters_of(control).values()]
    rows += [f"| `{name}` | in Python only | | {text} |" for name, text in python_only_of(control).items()]
    if rows:
        parts.append("\n".join(["| parameter | type | default | meaning |", "|---|---|---|---|", *rows]))
    result = result_of(control)
    if result is not type(None):
        parts.append(f"Result: {_type_name(result_schema(result, definitions))}")
    example = example_of(control)
    calls = {"python": python_call(control, example), "text": http_call(control, example), "shell": command_of(control, example)}
    return [*parts, *(f"```{language}\n{call}\n```" for language, call in calls.items())]


def python_call(control: Control, arguments: dict[str, Any]) -> str:
    """Returns the call of a control in Python, with JSON values as arguments."""
    parameters = parameters_of(control)
    positional = names_in_order((each for each in parameters.values() if each.positional), arguments)
    texts = {name: _python_value(parameters[name], value) for name, value in arguments.items()}
    owner = f"cluster.{control.owner}" if control.owner else "cluster"
    in_order = [texts[name] for name in positional]
    named = [f"{name}={text}" for name, text in texts.items() if name not in positional]
    return f"{owner}.{control.method.__name__}({', '.join([*in_order, *named])})"


def _python_value(parameter: Parameter, value: Any) -> str:
    if isinstance(parameter.shape, IsoTime):
        return f'datetime.fromisoformat("{value}")'
    return json.dumps(value) if isinstance(value, str) else repr(value).replace("'", '"')


def http_call(control: Control, arguments: dict[str, Any]) -> str:
    """Returns the request line and the body for a control, with JSON values as arguments."""
    path = "/" + "/".join(control.words)
    if control.reads:
        query = "&".join(f"{name}={value}" for name, value in arguments.items())
        return f"GET {path}{'?' * bool(query)}{query}"
    return f"POST {path} {json_of(arguments) if arguments else ''}".rstrip()


def _row(parameter: Parameter, definitions: dict[str, Schema]) -> str:
    default = "required" if parameter.required else f"`{json_of(parameter.default)}`" if parameter.has_default else ""
    schema = parameter.shape.schema(definitions)
    return f"| `{parameter.name}` | {_type_name(schema, nullable=False)} | {default} | {parameter.help} |"


def _type_section(name: str, schema: Schema) -> list[str]:
    parts = [f"## {name}", schema.get("description", "")]
    if properties := schema.get("properties"):
        rows = [f"| `{field}` | {_type_name(each)} |" for field, each in properties.items()]
        parts.append("\n".join(["| field | type |", "|---|---|", *rows]))
    return parts


def _type_name(schema: Schema, *, nullable: bool = True) -> str:
    """Returns the type that a schema describes, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}]({TYPES}.md#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type_name(each) for each in schema["anyOf"] if nullable or each != {"type": "null"})
    if schema.get("type") == "array":
        items = schema.get("prefixItems", [schema["items"]] if "items" in schema else [])
        return "list of " + " and ".join(_type_name(each) for each in items)
    if schema.get("type") == "object":
        value = _type_name(schema["additionalProperties"])
        return f"object of {value}" if value else "object"
    return "time" if schema.get("format") == "date-time" else str(schema.get("type", ""))
