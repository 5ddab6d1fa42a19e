"""The security settings of clients: parsing, errors, and what their representation shows."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.client.settings import ClientSecurity, TlsSettings

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="secret";'
SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="id" password="secret" tokenauth="true";'
UNSECURED = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="alice";'


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ClientSecurity()),
        ({"security.protocol": "plaintext"}, ClientSecurity()),
        ({"security.protocol": "SSL"}, ClientSecurity("SSL", tls=TlsSettings())),
        (
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN},
            ClientSecurity("SASL_PLAINTEXT", "PLAIN", "alice", "secret"),
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": SCRAM},
            ClientSecurity("SASL_SSL", "SCRAM-SHA-512", "id", "secret", True, tls=TlsSettings()),
        ),
        (
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": UNSECURED},
            ClientSecurity("SASL_PLAINTEXT", "OAUTHBEARER", "alice"),
        ),
        (
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token": "a.b."},
            ClientSecurity("SASL_PLAINTEXT", "OAUTHBEARER", token="a.b."),
        ),
        (
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.login.callback.handler.class": "tokens:fetch",
            },
            ClientSecurity("SASL_PLAINTEXT", "OAUTHBEARER", token_callable="tokens:fetch"),
        ),
        (
            {
                "security.protocol": "SSL",
                "ssl.truststore.type": "pem",
                "ssl.truststore.location": " ca.pem ",
                "ssl.endpoint.identification.algorithm": "",
                "ssl.key.password": "secret",
            },
            ClientSecurity(
                "SSL", tls=TlsSettings(truststore_type="PEM", truststore_location="ca.pem", key_password="secret", verify_host=False)
            ),
        ),
    ],
)
def test_settings_are_read(settings: dict[str, str], expected: ClientSecurity) -> None:
    found = ClientSecurity.of(settings)
    assert found == expected
    assert found.uses_sasl == bool(expected.mechanism)
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"security.protocol": "TLS"}, "security.protocol must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, not TLS"),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism must be one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, not GSSAPI"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "PLAIN needs sasl.jaas.config with username and password"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": 'x required username="a";'},
            "PLAIN needs sasl.jaas.config with username and password",
        ),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "secret"}, "not terminated by semi-colon"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}, "OAUTHBEARER needs sasl.oauthbearer.token, sasl.login"),
        ({"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "ldap"}, "must be https or empty"),
    ],
)
def test_invalid_settings_are_named(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        ClientSecurity.of(settings)
    assert "secret" not in str(caught.value)


def test_settings_are_hashable_for_caches() -> None:
    one: Any = ClientSecurity.of({"security.protocol": "SSL"})
    assert len({one, ClientSecurity.of({"security.protocol": "SSL"})}) == 1
