"""The settings that TLS, users and ACLs imply, and the checks at startup."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.security.startup import Security, parse_user, security_of
from odradek.broker.settings.cluster_config import ClusterConfig, cluster_of
from odradek.broker.settings.properties import InvalidConfig

USERS = {"alice": "secret"}
DEFAULT = {"listeners": "PLAINTEXT://127.0.0.1:0"}


def secured(security: Security, **settings: str) -> ClusterConfig:
    return security.apply_to(cluster_of([security.settings(DEFAULT | settings, settings)], nodes=1))


@pytest.mark.parametrize(
    ("security", "protocol"),
    [
        (Security(), "PLAINTEXT"),
        (Security(tls=True), "SSL"),
        (Security(users=USERS), "SASL_PLAINTEXT"),
        (Security(tls=True, users=USERS), "SASL_SSL"),
    ],
)
def test_security_chooses_the_protocol_of_the_default_listener(security: Security, protocol: str) -> None:
    (listener,) = secured(security).nodes[0].listeners
    assert (listener.name, listener.security_protocol) == (protocol, protocol)


def test_security_leaves_configured_listeners_and_settings() -> None:
    given = {"listeners": "A://127.0.0.1:0,B://127.0.0.1:0", "listener.security.protocol.map": "A:PLAINTEXT,B:SASL_PLAINTEXT"}
    config = secured(Security(users=USERS), **given, **{"sasl.enabled.mechanisms": "PLAIN"})
    assert [listener.security_protocol for listener in config.nodes[0].listeners] == ["PLAINTEXT", "SASL_PLAINTEXT"]
    assert config.nodes[0].properties["sasl.enabled.mechanisms"] == "PLAIN"


def test_security_with_acls_selects_the_authorizer() -> None:
    config = secured(Security(acls=["User:*:allow:read:topic:*"]))
    assert config.nodes[0].properties["authorizer.class.name"].endswith("StandardAuthorizer")


@pytest.mark.parametrize(
    ("security", "settings", "complaint"),
    [
        (
            Security(users=USERS),
            {"listeners": "PLAINTEXT://127.0.0.1:0"},
            "users are configured, but no listener uses SASL",
        ),
        (Security(tls=True), {"listeners": "PLAINTEXT://127.0.0.1:0"}, "TLS is configured, but no listener uses SSL or SASL_SSL"),
        (Security(users={"alice": ""}), {}, "invalid user 'alice'"),
        (Security(users={"": "secret"}), {}, "invalid user ''"),
        (Security(users={"al\0ice": "secret"}), {}, "character NUL"),
        (Security(acls=["nonsense"]), {}, "invalid ACL 'nonsense'"),
        (Security(), {"listeners": "SASL_PLAINTEXT://127.0.0.1:0"}, "GSSAPI"),
    ],
)
def test_security_invalid_is_refused(security: Security, settings: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidConfig, match=complaint) as refused:
        secured(security, **settings)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((1, None, ()), "tls must be True or False"),
        ((False, {"alice": 1}, ()), "users must map names to passwords"),
        ((False, ["alice"], ()), "users must map names to passwords"),
        ((False, None, "User:a:allow:read:topic:t"), "acls must be a list"),
        ((False, None, [1]), "acls must be a list"),
    ],
)
def test_security_arguments_of_wrong_types_are_refused(arguments: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        security_of(*arguments)


def test_parse_user_splits_at_the_first_colon() -> None:
    assert parse_user("alice:se:cret") == ("alice", "se:cret")


@pytest.mark.parametrize("text", ["alice", "alice:", ":secret", ""])
def test_parse_user_invalid_is_refused_without_the_text(text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"^invalid user: use name:password, such as alice:secret$"):
        parse_user(text)


def test_no_representation_contains_a_password() -> None:
    security = Security(users=USERS)
    jaas = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
    module = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="secret2";'
    config = secured(security, **{jaas: module})
    assert "secret" not in repr(security) + repr(config)
