"""The address of the schema registry."""

from __future__ import annotations

import pytest

from odradek.broker.controls.http.responses import Problem
from odradek.broker.registry_edge.access import RegistryAccess, RegistryAddress
from odradek.broker.settings.properties import InvalidConfig


@pytest.mark.parametrize(("text", "url"), [
    ("127.0.0.1:8081", "http://127.0.0.1:8081"),
    ("0.0.0.0:8081", "http://localhost:8081"),
    ("[::1]:8081", "http://[::1]:8081"),
    ("registry:8081", "http://registry:8081"),
])  # fmt: skip
def test_address_has_a_url(text: str, url: str) -> None:
    assert RegistryAddress.parse(text).url(8081, tls=False) == url


@pytest.mark.parametrize("text", ["8081", "127.0.0.1", "127.0.0.1:65536", "http://127.0.0.1:8081", "a b:1"])
def test_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match="HOST:PORT"):
        RegistryAddress.parse(text)


def test_names_are_accepted_beyond_loopback() -> None:
    RegistryAccess("0.0.0.0", {}).check({"host": "schema-registry:8081"})
    with pytest.raises(Problem):
        RegistryAccess("127.0.0.1", {}).check({"host": "schema-registry:8081"})
    RegistryAccess("127.0.0.1", {}).check({"host": "127.0.0.2:8081"})
