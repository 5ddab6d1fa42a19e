"""Names of settings that apply to one listener."""

from __future__ import annotations

import pytest

from odradek.broker.settings.listener_prefix import base_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("num.partitions", "num.partitions"),
        ("listener.name.external.ssl.keystore.location", "ssl.keystore.location"),
        ("listener.name.external.scram-sha-256.sasl.jaas.config", "sasl.jaas.config"),
        ("listener.name.external.unknown.setting", "unknown.setting"),
        ("listener.name.external", "listener.name.external"),
    ],
)
def test_base_name_is_name_without_prefix(name: str, expected: str) -> None:
    assert base_name(name) == expected
