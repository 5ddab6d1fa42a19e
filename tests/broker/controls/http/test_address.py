"""The address and the token of the control listener."""

from __future__ import annotations

import re

import pytest

from odradek.broker.controls.http.address import ControlAddress


@pytest.mark.parametrize(
    ("text", "token", "expected", "bound"),
    [
        ("127.0.0.1:9099", None, ("127.0.0.1", 9099, None), "127.0.0.1:7"),
        ("[::1]:0", None, ("::1", 0, None), "[::1]:7"),
        ("localhost:0", "t", ("localhost", 0, "t"), "localhost:7"),
        ("0.0.0.0:9099", "t", ("0.0.0.0", 9099, "t"), "0.0.0.0:7"),
    ],
)
def test_address_is_parsed(text: str, token: str | None, expected: tuple[str, int, str | None], bound: str) -> None:
    address = ControlAddress.parse(text, token)
    assert address == expected
    assert address.bound(7) == bound


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
