"""The OpenAPI 3.1 document of the control listener, generated from the declarations of the controls."""

from __future__ import annotations

import re
from typing import Any

from .... import __version__
from ..declaration import CONTROLS, Control
from ..interface.examples import example_of
from ..interface.results import json_value, result_schema
from ..interface.shapes import Schema
from ..interface.signatures import Parameter, parameters_of, result_of
from .responses import PROBLEM_TYPE
from .routes import JSON, path_of

OPENAPI_PATH = "/openapi.json"
_PROBLEMS = {
    "400": "An argument is invalid; `parameter` is its name.",
    "401": "The token is missing or wrong.",
    "403": "The Host or the Origin is foreign.",
    "409": "The cluster refused what was asked.",
    "504": "A condition did not become true in time.",
}
_PROBLEM: Schema = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "properties": {
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "parameter": {"type": "string", "description": "the name of the invalid parameter"},
        "code": {"type": "string", "description": "the name of Kafka's error code"},
    },
    "required": ["title", "status", "detail"],
}


def document(token_needed: bool) -> dict[str, Any]:
    """Returns the document. `token_needed` says whether the listener has a token."""
    definitions: dict[str, Schema] = {"Problem": _PROBLEM}
    paths = {path_of(control): {"get" if control.reads else "post": _operation(control, definitions)} for control in CONTROLS.values()}
    components: dict[str, Any] = {"schemas": definitions, "responses": _problem_responses()}
    if token_needed:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "odradek",
            "version": __version__,
            "description": "Controls of an emulated Kafka cluster: faults, time, topology and state.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        **({"security": [{"token": []}]} if token_needed else {}),
        "tags": [{"name": name} for name in dict.fromkeys(words[0] for words in CONTROLS)],
        "paths": paths,
        "components": components,
    }


def _operation(control: Control, definitions: dict[str, Schema]) -> dict[str, Any]:
    summary, _, description = control.help.partition("\n")
    operation: dict[str, Any] = {
        "operationId": "_".join(control.words).replace("-", "_"),
        "tags": [control.words[0]],
        "summary": summary.rstrip("."),
        **({"description": description.strip()} if description.strip() else {}),
        "responses": _responses(control, definitions),
    }
    if control.reads:
        operation["parameters"] = [_query_parameter(each, control, definitions) for each in parameters_of(control).values()]
    elif parameters_of(control):
        operation["requestBody"] = _body(control, definitions)
    return operation


def _responses(control: Control, definitions: dict[str, Schema]) -> dict[str, Any]:
    result = result_of(control)
    if result is type(None):
        responses: dict[str, Any] = {"204": {"description": "The control has been carried out."}}
    else:
        responses = {"200": {"description": "The result.", "content": {JSON: {"schema": result_schema(result, definitions)}}}}
    return responses | {status: {"$ref": f"#/components/responses/Problem{status}"} for status in _PROBLEMS}


def _problem_responses() -> dict[str, Any]:
    content = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {f"Problem{status}": {"description": text, "content": content} for status, text in _PROBLEMS.items()}


def _query_parameter(parameter: Parameter, control: Control, definitions: dict[str, Schema]) -> dict[str, Any]:
    example = example_of(control).get(parameter.name)
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.help,
        "schema": _schema(parameter, definitions),
        **({} if example is None else {"example": example}),
    }


def _body(control: Control, definitions: dict[str, Schema]) -> dict[str, Any]:
    parameters = parameters_of(control).values()
    required = [each.name for each in parameters if each.required]
    schema = {
        "type": "object",
        "properties": {each.name: _schema(each, definitions) | {"description": each.help} for each in parameters},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }
    return {"required": bool(required), "content": {JSON: {"schema": schema, "example": example_of(control)}}}


def _schema(parameter: Parameter, definitions: dict[str, Schema]) -> Schema:
    schema = parameter.shape.schema(definitions)
    unit = re.search("_(ms|s|bytes|bytes_per_s)$", parameter.name)
    return schema | ({"default": json_value(parameter.default)} if parameter.has_default else {}) | ({"x-unit": unit[1]} if unit else {})
