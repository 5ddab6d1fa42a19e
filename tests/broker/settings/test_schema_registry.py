"""The settings of the schema registry."""

from __future__ import annotations

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.schema_registry import RegistrySettings, address_in, registry_settings_of, split_settings


def test_settings_have_defaults_and_values() -> None:
    assert RegistrySettings.of({}) == ("BACKWARD", "_schemas", True)
    given = {"schema.compatibility.level": "full_transitive", "kafkastore.topic": "s", "mode.mutability": "FALSE"}
    assert RegistrySettings.of(given) == ("FULL_TRANSITIVE", "s", False)
    assert RegistrySettings.of({"avro.compatibility.level": "none"}).compatibility_level == "NONE"


@pytest.mark.parametrize("name", ["schema.compatibility.level", "kafkastore.topic", "mode.mutability"])
def test_invalid_value_is_named(name: str) -> None:
    with pytest.raises(InvalidConfig, match=name):
        RegistrySettings.of({name: "a b"})


def test_settings_are_split_from_those_of_brokers() -> None:
    pairs = [("num.partitions", "3"), ("schema.compatibility.level", "full")]
    assert split_settings(pairs) == ({"schema.compatibility.level": "full"}, [("num.partitions", "3")])


def test_variables_of_the_image_are_read() -> None:
    environ = {
        "SCHEMA_REGISTRY_SCHEMA_COMPATIBILITY_LEVEL": "none", "SCHEMA_REGISTRY_LISTENERS": "http://0.0.0.0:8081",
        "SCHEMA_REGISTRY_HOST_NAME": "sr", "SCHEMA_REGISTRY_PORT": "tcp://10.0.0.1:8081",
    }  # fmt: skip
    assert registry_settings_of(environ) == {"schema.compatibility.level": "none", "listeners": "http://0.0.0.0:8081"}
    assert address_in("http://0.0.0.0:8081,https://0.0.0.0:8082") == "0.0.0.0:8081"
    with pytest.raises(InvalidConfig, match="SCHEMA_REGISTRY_LISTENERS"):
        address_in("0.0.0.0:8081")
