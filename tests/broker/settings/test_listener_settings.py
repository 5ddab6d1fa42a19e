"""Settings of one listener."""

from __future__ import annotations

import pytest

from odradek.broker.settings.listener_settings import ListenerSettings
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.values import BrokerConfig

REAUTH = "connections.max.reauth.ms"


def test_listener_value_precedes_that_of_all_listeners() -> None:
    config = BrokerConfig({REAUTH: "5", f"listener.name.external.{REAUTH}": "7", "sasl.enabled.mechanisms": "PLAIN, SCRAM-SHA-256"})
    assert [ListenerSettings(config, name).integer(REAUTH) for name in ("EXTERNAL", "INTERNAL")] == [7, 5]
    assert ListenerSettings(config, "EXTERNAL").words("sasl.enabled.mechanisms") == ("PLAIN", "SCRAM-SHA-256")


def test_listener_value_without_any_is_the_default() -> None:
    settings = ListenerSettings(BrokerConfig({}), "EXTERNAL")
    assert (settings.integer(REAUTH), settings.text("ssl.keystore.location"), settings.text("ssl.client.auth")) == (0, "", "none")
    assert settings.override(REAUTH) is None


def test_listener_value_follows_dynamic_changes() -> None:
    name = f"listener.name.external.{REAUTH}"
    config = BrokerConfig({name: "1"})
    settings = ListenerSettings(config, "EXTERNAL")
    config.alter(own={}, cluster_wide={name: "2"})
    assert settings.integer(REAUTH) == 2
    config.alter(own={name: "3"}, cluster_wide={name: "2"})
    assert settings.integer(REAUTH) == 3


def test_listener_value_of_a_mechanism_has_its_prefix() -> None:
    config = BrokerConfig({"listener.name.external.scram-sha-256.connections.max.reauth.ms": "9"})
    settings = ListenerSettings(config, "EXTERNAL")
    assert (settings.of_mechanism("SCRAM-SHA-256", REAUTH), settings.of_mechanism("PLAIN", REAUTH)) == ("9", None)


def test_listener_value_invalid_is_refused() -> None:
    settings = ListenerSettings(BrokerConfig({f"listener.name.external.{REAUTH}": "soon"}), "EXTERNAL")
    with pytest.raises(InvalidConfig, match=REAUTH):
        settings.integer(REAUTH)
