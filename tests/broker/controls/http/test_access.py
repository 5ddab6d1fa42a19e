"""Tokens, and the Host and Origin of web pages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from odradek.broker.controls.http.access import AccessRules, ControlAddress
from odradek.broker.controls.http.responses import Problem

LOCAL = AccessRules("127.0.0.1", None)


def status(access: AccessRules, *, public: bool = False, **headers: str) -> int:
    """Returns the status of the refusal, 0 for access."""
    try:
        access.check(headers, public=public)
    except Problem as problem:
        return problem.status
    return 0


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9099", "127.0.0.1", "127.0.0.1:1", "127.1.2.3:80", "[::1]:9099", "[::1]", "[0:0:0:0:0:0:0:1]"]
)
def test_host_of_the_machine_is_accepted(host: str) -> None:
    assert status(LOCAL, host=host) == 0


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:9099", "evil.example:127.0.0.1", "192.168.0.1", "0.0.0.0:9099",
     "127.0.0.1@evil.example", "localhost:9099, evil.example", "[::2]", "::1", "localhost:", "2130706433", "0x7f.1", "[127.0.0.1]x"],
)  # fmt: skip
def test_foreign_host_is_always_refused(host: str) -> None:
    assert status(LOCAL, host=host) == 403
    assert status(LOCAL, host=host, public=True) == 403
    assert status(AccessRules("127.0.0.1", "secret"), host=host, authorization="Bearer secret") == 403


def test_bound_host_is_accepted() -> None:
    access = AccessRules("Kafka.internal", "t")
    assert status(access, host="kafka.internal:9099", authorization="Bearer t") == 0
    assert status(access, host="other.internal:9099", authorization="Bearer t") == 403
    assert status(access, host="10.0.0.1:9099", authorization="Bearer t") == 403


@pytest.mark.parametrize("bound", ["0.0.0.0", "::"])
def test_listener_on_all_interfaces_accepts_addresses_only(bound: str) -> None:
    access = AccessRules(bound, "t")
    for host in ("10.0.0.1:9099", "[2001:db8::1]:9099", "localhost"):
        assert status(access, host=host, authorization="Bearer t") == 0
    assert status(access, host="evil.example", authorization="Bearer t") == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:3000", "https://localhost:9099", "http://127.0.0.1:9099", ""]
)
def test_foreign_origin_sees_only_public_resources(origin: str) -> None:
    assert status(LOCAL, host="localhost:9099", origin=origin) == 403
    assert status(LOCAL, host="localhost:9099", origin=origin, public=True) == 0


@pytest.mark.parametrize(("site", "expected"), [("cross-site", 403), ("same-site", 403), ("same-origin", 0), ("none", 0)])
def test_request_of_another_site_is_refused_without_origin(site: str, expected: int) -> None:
    headers: dict[str, Any] = {"host": "localhost:9099", "sec-fetch-site": site}
    assert status(LOCAL, **headers) == expected
    assert status(LOCAL, public=True, **headers) == 0


def test_page_of_the_listener_is_accepted() -> None:
    assert status(LOCAL, host="localhost:9099", origin="http://localhost:9099") == 0


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        ("Bearer secret", 0),
        ("bearer  secret", 0),
        ("", 401),
        ("secret", 401),
        ("Basic secret", 401),
        ("Bearer", 401),
        ("Bearer secre", 401),
        ("Bearer secrets", 401),
        ("Bearer Secret", 401),
        ("Bearer s\xe9cret", 401),
    ],
)
def test_token_must_be_given_exactly(authorization: str, expected: int) -> None:
    access = AccessRules("127.0.0.1", "secret")
    assert status(access, host="localhost", authorization=authorization) == expected
    assert status(access, host="localhost", authorization=authorization, public=True) == 0


def test_refusal_without_token_names_the_scheme() -> None:
    with pytest.raises(Problem, match="Authorization: Bearer") as raised:
        AccessRules("127.0.0.1", "secret").check({"host": "localhost"}, public=False)
    assert raised.value.headers == {"WWW-Authenticate": 'Bearer realm="odradek"'}


@pytest.mark.parametrize(
    ("text", "token", "expected"),
    [
        ("127.0.0.1:9099", None, ("127.0.0.1", 9099, None)),
        ("[::1]:0", None, ("::1", 0, None)),
        ("localhost:0", "t", ("localhost", 0, "t")),
        ("0.0.0.0:9099", "t", ("0.0.0.0", 9099, "t")),
    ],
)
def test_address_is_parsed(text: str, token: str | None, expected: tuple[str, int, str | None]) -> None:
    assert ControlAddress.parse(text, token) == expected


@pytest.mark.parametrize(
    ("text", "token", "message"),
    [
        ("9099", None, "invalid address '9099' for control: use HOST:PORT, such as 127.0.0.1:9099"),
        (":9099", None, "invalid address ':9099'"),
        ("127.0.0.1:70000", None, "invalid address '127.0.0.1:70000'"),
        ("::1:9099", None, "invalid address '::1:9099'"),
        ("http://127.0.0.1:9099", None, "invalid address"),
        (
            "0.0.0.0:9099",
            None,
            "control cannot listen on 0.0.0.0 without a token: set a token, or, outside a container, listen on 127.0.0.1",
        ),
        ("kafka:9099", None, "control cannot listen on kafka without a token"),
        ("[::]:9099", None, "control cannot listen on :: without a token"),
        ("127.0.0.1:9099", "", "invalid token for control: use printable ASCII characters without spaces"),
        ("127.0.0.1:9099", "a b", "invalid token"),
        ("127.0.0.1:9099", "é", "invalid token"),
    ],
)
def test_invalid_address_or_token_is_refused(text: str, token: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ControlAddress.parse(text, token)
