"""The configuration of SASL listeners."""

from __future__ import annotations

from random import Random

import pytest

from odradek.broker.scheduling.timers import Timers
from odradek.broker.security.sasl_listener import Accounts, SaslListener, SaslListeners
from odradek.broker.security.scram import Account
from odradek.broker.security.scram_credentials import MECHANISMS
from odradek.broker.settings.listeners import Listener
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.values import BrokerConfig, ListenerSettings

ENABLED = "sasl.enabled.mechanisms"
JAAS = "listener.name.external.plain.sasl.jaas.config"
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def accounts(**passwords: str) -> Accounts:
    return Accounts(passwords, BrokerConfig({}), Timers(0), Random(1), lambda: None)


def listener(**settings: str) -> SaslListener:
    config = BrokerConfig({ENABLED: "PLAIN,SCRAM-SHA-512", **settings})
    return SaslListener.of(ListenerSettings(config, "EXTERNAL"), accounts(alice="secret"))


def test_listener_has_users_of_cluster_and_jaas_config() -> None:
    users = listener(**{JAAS: f'{PLAIN_MODULE} required username="admin" user_bob="hunter2" user_alice="own";'}).plain_users
    accepted = [("alice", "own", True), ("alice", "secret", False), ("bob", "hunter2", True), ("admin", "", False)]
    assert [users.accepts(user, password) for user, password, _ in accepted] == [expected for *_, expected in accepted]


def test_listener_limits_sessions_by_mechanism() -> None:
    settings = {"connections.max.reauth.ms": "5", "listener.name.external.plain.connections.max.reauth.ms": "7"}
    assert listener(**settings).max_session_ms == {"PLAIN": 7, "SCRAM-SHA-512": 5}


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({ENABLED: "GSSAPI"}, "Kerberos is not supported; use PLAIN, SCRAM-SHA-256"),
        ({ENABLED: ""}, "sasl.enabled.mechanisms is empty; list some of PLAIN"),
        ({ENABLED: "PLAIN,DIGEST-MD5"}, "DIGEST-MD5, which is not supported"),
        ({JAAS: "com.example.MyModule required;"}, "names com.example.MyModule; use org.apache.kafka"),
        ({JAAS: "nonsense"}, "not terminated by semi-colon"),
        ({"listener.name.external.plain.connections.max.reauth.ms": "x"}, "Not a number"),
    ],
)
def test_listener_invalid_settings_are_refused(settings: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidConfig, match=complaint):
        listener(**settings)


def test_listeners_without_sasl_have_no_configuration() -> None:
    plain, sasl = (Listener(1, name, "", 0, "", 0, name) for name in ("PLAINTEXT", "SASL_PLAINTEXT"))
    config = BrokerConfig({ENABLED: "PLAIN"})
    listeners = SaslListeners(config, {"PLAINTEXT": plain, "SASL_PLAINTEXT": sasl}, accounts())
    assert listeners.get("PLAINTEXT") is None
    first = listeners.get("SASL_PLAINTEXT")
    assert first is not None and first is listeners.get("SASL_PLAINTEXT")
    config.alter(own={"listener.name.sasl_plaintext.sasl.enabled.mechanisms": "SCRAM-SHA-256"}, cluster_wide={})
    changed = listeners.get("SASL_PLAINTEXT")
    assert changed is not None and changed.enabled == ("SCRAM-SHA-256",)


def test_accounts_do_not_mix_users_and_tokens() -> None:
    """The password of a user is no password of a token with the user's name, and the other way round."""
    config = BrokerConfig({"delegation.token.secret.key": "key of tokens"})
    known = Accounts({"alice": "secret"}, config, Timers(0), Random(1), lambda: None)
    token = known.tokens.create("User:alice", "User:alice", (), -1)
    mechanism = MECHANISMS[1]
    user, made_up = (known.scram_account("alice", mechanism, by_token) for by_token in (False, True))
    assert user.credential == known.scram_credentials.of("alice")[1]
    assert (made_up.user, made_up.credential) == ("alice", known.scram_credentials.unknown.token_credential("alice", mechanism))
    assert known.scram_account(token.token_id, mechanism, True) == Account("alice", token.credentials[1], token.expiry_ms)
    assert known.scram_account(token.token_id, mechanism, False).credential != token.credentials[1]
