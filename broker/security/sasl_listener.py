"""The configuration of SASL listeners: the enabled mechanisms, the users of PLAIN, and the limits of sessions.

`SaslListener.of` reads the settings of one listener, and `session` returns the state machine (`sasl.py`) of a new connection to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple, cast

from ..kafka_quirks.java_hash import hash_map_order
from ..scheduling.timers import Timers
from ..settings.listeners import SASL_PROTOCOLS, Listener
from ..settings.properties import InvalidConfig
from ..settings.values import BrokerConfig, ListenerSettings
from .delegation_tokens import DelegationTokens
from .jaas import login_options
from .jws import KeySet
from .mechanism import Mechanism
from .oauthbearer import OAUTHBEARER, OAuthBearerServer, TokenValidator, key_set_url, validator_of
from .plain import PlainServer, PlainUsers, digests_of
from .sasl import SaslSession
from .scram import Account, ScramServer
from .scram_credentials import MECHANISMS, SALT_BITS, ScramCredentials, ScramMechanism, salt_of

SCRAM = {mechanism.name: mechanism for mechanism in MECHANISMS.values()}
SUPPORTED = ("PLAIN", *SCRAM, OAUTHBEARER)
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
USER_PREFIX = "user_"


class Accounts:
    """The users of a cluster: those with a password for PLAIN, given at start-up, those with SCRAM credentials, and delegation tokens.

    `on_change` is called after each change of the tokens.
    """

    def __init__(
        self, passwords: Mapping[str, str], config: BrokerConfig, timers: Timers, random: Random, on_change: Callable[[], object]
    ) -> None:
        self._plain_digests = digests_of(passwords)
        self.timers = timers
        self.random = random
        self.scram_credentials = ScramCredentials(random)
        self.tokens = DelegationTokens(config, timers, random, on_change)
        self.key_sets: dict[str, KeySet] = {}
        """The key sets for OAuth tokens by URL. The edge, which reads them, adds them and replaces them when they have changed."""
        for user, password in passwords.items():
            self.scram_credentials.set_password(user, password)

    def plain_users(self, more: Mapping[str, str]) -> PlainUsers:
        """Returns the users of PLAIN together with those of a listener."""
        return PlainUsers({**self._plain_digests, **digests_of(more)})

    def scram_account(self, name: str, mechanism: ScramMechanism, by_token: bool) -> Account:
        """Returns the account of a user or, if `by_token`, of the owner of the delegation token with this id.

        A name that is unknown gets credentials that no password matches.
        """
        if not by_token:
            return Account(name, self.scram_credentials.for_exchange(name, mechanism))
        made_up, token = self.scram_credentials.unknown.token_credential(name, mechanism), self.tokens.get(name)
        if token is None:
            return Account(name, made_up)
        return Account(token.owner.partition(":")[2], token.credentials[mechanism.number], token.expiry_ms)


class SaslListener(NamedTuple):
    """The present configuration of a SASL listener. `max_session_ms` is `connections.max.reauth.ms` by mechanism."""

    accounts: Accounts
    enabled: tuple[str, ...]
    plain_users: PlainUsers
    token_validator: TokenValidator
    max_session_ms: Mapping[str, int]
    max_receive_bytes: int
    failure_delay_ms: int

    @classmethod
    def of(cls, settings: ListenerSettings, accounts: Accounts) -> SaslListener:
        """Returns the configuration that a listener's settings describe. Raises InvalidConfig."""
        enabled = _enabled_mechanisms(settings)
        return cls(
            accounts,
            enabled,
            accounts.plain_users(_plain_passwords(settings) if "PLAIN" in enabled else {}),
            validator_of(settings, accounts.key_sets),
            {mechanism: _max_session_ms(settings, mechanism) for mechanism in enabled},
            settings.integer("sasl.server.max.receive.size"),
            settings.integer("connection.failed.authentication.delay.ms"),
        )

    def session(self) -> SaslSession:
        """Returns the authentication of a new connection."""
        timers = self.accounts.timers
        return SaslSession(self.enabled, self._server, lambda mechanism: self.max_session_ms[mechanism], lambda: timers.now_ms)

    def _server(self, mechanism: str) -> Mechanism:
        if mechanism == "PLAIN":
            return PlainServer(self.plain_users)
        if mechanism == OAUTHBEARER:
            return OAuthBearerServer(self.token_validator, lambda: self.accounts.timers.now_ms)
        nonce = salt_of(self.accounts.random.getrandbits(SALT_BITS)).decode()
        return ScramServer(SCRAM[mechanism], self.accounts.scram_account, nonce)


class SaslListeners:
    """The SASL listeners of one node by name. They follow the settings, which can change at run time (KIP-226)."""

    def __init__(self, config: BrokerConfig, listeners: Mapping[str, Listener], accounts: Accounts) -> None:
        self._config = config
        self._accounts = accounts
        self._names = [name for name, listener in listeners.items() if listener.security_protocol in SASL_PROTOCOLS]
        self.check(config)

    def check(self, config: BrokerConfig) -> None:
        """Raises InvalidConfig if a listener cannot be configured with these settings."""
        for name in self._names:
            SaslListener.of(ListenerSettings(config, name), self._accounts)
            former = key_set_url(ListenerSettings(self._config, name))
            if key_set_url(ListenerSettings(config, name)) not in ("", former):
                # A client must not make the broker read files or connect to other machines.
                raise InvalidConfig("sasl.oauthbearer.jwks.endpoint.url cannot be changed while the broker runs; restart it")

    def key_set_urls(self) -> dict[str, int]:
        """Returns the URLs of key sets for OAuth tokens, with the time in ms after which each is read again."""
        name = "sasl.oauthbearer.jwks.endpoint.refresh.ms"
        listeners = [ListenerSettings(self._config, each) for each in self._names]
        return {url: each.integer(name) for each in listeners if (url := key_set_url(each))}

    def get(self, name: str) -> SaslListener | None:
        """Returns the present configuration of a listener, None if it does not use SASL."""
        if name not in self._names:
            return None
        current: dict[str, SaslListener] = self._config.derived.setdefault(SaslListener, {})
        if name not in current:
            current[name] = SaslListener.of(ListenerSettings(self._config, name), self._accounts)
        return current[name]


def _enabled_mechanisms(settings: ListenerSettings) -> tuple[str, ...]:
    """Returns the enabled mechanisms in the order in which Kafka lists them, that of a HashSet."""
    names = settings.words("sasl.enabled.mechanisms")
    where = f"listener {settings.listener_name}: sasl.enabled.mechanisms"
    if not names:
        raise InvalidConfig(f"{where} is empty; list some of {', '.join(SUPPORTED)}")
    for name in names:
        if name == "GSSAPI":
            raise InvalidConfig(f"{where} contains GSSAPI, Kafka's default, but Kerberos is not supported; use {', '.join(SUPPORTED)}")
        if name not in SUPPORTED:
            raise InvalidConfig(f"{where} contains {name}, which is not supported; use {', '.join(SUPPORTED)}")
    return tuple(hash_map_order(names))


def _max_session_ms(settings: ListenerSettings, mechanism: str) -> int:
    return cast(int, settings.value_of_mechanism(mechanism, "connections.max.reauth.ms"))


def _plain_passwords(settings: ListenerSettings) -> dict[str, str]:
    """Returns the users of `listener.name.<listener>.plain.sasl.jaas.config`: the options `user_<name>="<password>"`."""
    options = login_options(settings, "PLAIN", PLAIN_MODULE)
    return {name.removeprefix(USER_PREFIX): value for name, value in options.items() if name.startswith(USER_PREFIX)}
