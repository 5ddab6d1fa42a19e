"""Generated JSON and text to every route: each is refused without a trace, or carried out; none is an internal error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek import Cluster
from odradek.broker.control_errors import InvalidControl
from odradek.broker.controls import cluster_controls  # noqa: F401  (declares the controls)
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.broker.controls.http import routes
from odradek.broker.controls.http.requests import Request
from odradek.broker.controls.http.responses import Problem
from odradek.broker.controls.http.routes import path_of
from odradek.broker.controls.interface.examples import example_of
from odradek.broker.controls.interface.signatures import parameters_of
from tests.broker.controls.http.http_requests import Answer, ask_on
from tests.fuzz.canary import Canary
from tests.state import captured

WORDS = st.sampled_from(["", "orders", "ordres", "1", "-1", "10m", "null", "{", "[1]", "Produce", "2026-01-31T00:00:00Z", "x=1", "é", "\0"])
NUMBERS = st.sampled_from([0, 1, -1, 2, 7, 0.5, 2**31, 2**63, -(2**63) - 1, 1e300])
LEAVES = st.none() | st.booleans() | NUMBERS | WORDS | st.text(max_size=5)
NAMES = WORDS | st.sampled_from(["value", "key", "headers", "base64", "partition"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6)
ALL = pytest.mark.parametrize("declared", CONTROLS.values(), ids=lambda declared: " ".join(declared.words))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 1}, control="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def connection(cluster: Cluster) -> Iterator[HTTPConnection]:
    with closing(HTTPConnection(str(cluster.control), timeout=60)) as connection:
        yield connection


@pytest.fixture(scope="module")
def canary(cluster: Cluster) -> Iterator[Canary]:
    addresses = [(host, int(port)) for host, port in (each.split(":") for each in cluster.bootstrap_servers.split(","))]
    with closing(Canary(addresses)) as canary:
        canary.create_topic()
        yield canary
        canary.check_all()


def call(connection: HTTPConnection, declared: Control, arguments: dict[str, Any]) -> Answer:
    path = path_of(declared)
    if not declared.reads:
        return ask_on(connection, "POST", path, arguments)
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
    return ask_on(connection, "GET", f"{path}?{urlencode(texts)}")


def state_of(cluster: Cluster) -> Any:
    async def capture() -> Any:
        return captured(cluster._cluster._server.cluster)

    return cluster._run(capture())


def refusing(declared: Control) -> list[str]:
    """Returns the parameters that do not accept an object, nor its text in a query."""
    accepting = {"object", "string"} if declared.reads else {"object"}
    return [name for name, each in parameters_of(declared).items() if not each.shape.json_types & accepting]


@ALL
@given(data=st.data())
def test_invalid_arguments_leave_no_trace(
    declared: Control, data: st.DataObject, cluster: Cluster, connection: HTTPConnection, canary: Canary
) -> None:
    """One parameter of a valid call is replaced by one that does not exist or by a value that it does not accept."""
    arguments: dict[str, Any] = dict(example_of(declared))
    wrong = data.draw(st.sampled_from(["unknown", *refusing(declared)]))
    value = data.draw(VALUES)
    arguments[wrong] = value if wrong == "unknown" else {"wrong": value}
    before = state_of(cluster)
    answer = call(connection, declared, arguments)
    assert answer.status == 400, answer
    assert answer.body["parameter"] == wrong
    assert state_of(cluster) == before
    canary.check_one_record()


HARMLESS = [each for each in CONTROLS.values() if each.words[0] in ("topic", "record", "group", "transaction", "connection", "node")]
"""Controls that neither move the time, which may take long, nor delete the canary's topic."""


@pytest.mark.parametrize("declared", HARMLESS, ids=lambda declared: " ".join(declared.words))
@given(data=st.data())
def test_any_arguments_are_answered(declared: Control, data: st.DataObject, connection: HTTPConnection) -> None:
    parameters = parameters_of(declared)
    arguments = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(parameters, VALUES)))
    if "timeout_s" in parameters:
        arguments["timeout_s"] = 0
    if arguments.get("node") in (1, 2):
        arguments["node"] = 7
    assert call(connection, declared, arguments).status in (200, 204, 400, 409, 504)


def test_body_of_too_many_values_is_refused_before_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "parse_json", lambda *arguments: pytest.fail("the body was decoded"))
    request = Request("POST", "/clock/run", {"content-type": "application/json"}, True, b'{"a": [' + b"[]," * 200_000 + b"[]]}")
    with pytest.raises(Problem) as refused:
        routes.arguments_of(CONTROLS["clock", "run"], request)
    assert (refused.value.status, refused.value.detail) == (413, "the body has more than 200000 values; send them in several requests")


def test_separators_within_texts_are_no_values() -> None:
    body = json.dumps({"speed": 2, "name": ",[{" * 200_000 + '"'}).encode()
    request = Request("POST", "/clock/run", {"content-type": "application/json"}, True, body)
    with pytest.raises(InvalidControl, match="name"):
        routes.arguments_of(CONTROLS["clock", "run"], request)
