"""The security of a cluster as the options of `odradek serve` and the arguments of `Cluster` describe it: TLS, users and ACLs.

`Security.settings` returns the settings that these options imply. All of them can be set explicitly as well, and then take precedence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from ..scheduling.timers import Timers
from ..settings.cluster_config import ClusterConfig
from ..settings.endpoints import NEW_NAMES
from ..settings.listeners import SASL_PROTOCOLS, TLS_PROTOCOLS
from ..settings.properties import InvalidConfig
from ..settings.types import STANDARD_AUTHORIZER
from ..settings.values import BrokerConfig
from .acl_texts import EXAMPLE, parse_acl

PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PLAINTEXT_URL = "PLAINTEXT://"


class Security(NamedTuple):
    """TLS with generated certificates, users with their passwords, and access control entries as texts."""

    tls: bool = False
    users: Mapping[str, str] = MappingProxyType({})
    acls: Sequence[str] = ()

    def __repr__(self) -> str:
        return f"Security(tls={self.tls}, users={sorted(self.users)}, acls={list(self.acls)})"

    @property
    def protocol(self) -> str:
        """The security protocol of the default listener."""
        if self.users:
            return "SASL_SSL" if self.tls else "SASL_PLAINTEXT"
        return "SSL" if self.tls else "PLAINTEXT"

    def settings(self, properties: Mapping[str, str], configured: Collection[str]) -> dict[str, str]:
        """Returns the settings of a broker with those that the options imply. `configured` are the names that the user has set.

        Listeners that are not configured get `protocol`; configured ones keep their protocols.
        """
        implied = {}
        if self.users:
            implied["sasl.enabled.mechanisms"] = ",".join(PASSWORD_MECHANISMS)
        if self.acls:
            implied["authorizer.class.name"] = STANDARD_AUTHORIZER
        settings = {**implied, **properties}
        for name in NEW_NAMES:
            if name in settings and name not in configured:
                settings[name] = settings[name].replace(PLAINTEXT_URL, f"{self.protocol}://")
        return settings

    def apply_to(self, config: ClusterConfig) -> ClusterConfig:
        """Returns the cluster with the users and ACLs. Raises InvalidConfig for invalid ones, and for listeners that cannot serve them."""
        protocol = self.protocol if self.users or self.tls else ""
        nodes = tuple(replace(node, security_protocol=protocol) for node in config.nodes)
        secured = replace(config, nodes=nodes, users=self.users, acls=tuple(self.acls), tls=self.tls)
        _check(secured)
        return secured


def security_of(tls: bool, users: Mapping[str, str] | None, acls: Sequence[str]) -> Security:
    """Returns the security that arguments of `Cluster` describe. Raises TypeError for an argument of the wrong type."""
    if not isinstance(tls, bool):
        raise TypeError(f"tls must be True or False, not {type(tls).__name__}")
    if users is not None and not (isinstance(users, Mapping) and all(isinstance(each, str) for pair in users.items() for each in pair)):
        raise TypeError('users must map names to passwords, such as {"alice": "secret"}')
    if isinstance(acls, str) or not all(isinstance(text, str) for text in acls):
        raise TypeError(f'acls must be a list of texts such as "{EXAMPLE}", not {acls!r}')
    return Security(tls, dict(users or {}), list(acls))


def _check(config: ClusterConfig) -> None:
    for user, password in config.users.items():
        if not user or not password or "\0" in user + password:
            raise InvalidConfig(f"invalid user {user!r}: name and password must not be empty and not contain the character NUL")
    for text in config.acls:
        parse_acl(text)
    protocols = {listener.security_protocol for node in config.nodes for listener in node.listeners}
    for given, option, needed in ((config.users, "users are", SASL_PROTOCOLS), (config.tls, "TLS is", TLS_PROTOCOLS)):
        if given and protocols.isdisjoint(needed):
            example = f"listener.security.protocol.map=PLAINTEXT:{needed[0]}"
            raise InvalidConfig(f"{option} configured, but no listener uses {' or '.join(needed)}; set for example {example}")
    if protocols.intersection(SASL_PROTOCOLS):
        _check_sasl(config)


def _check_sasl(config: ClusterConfig) -> None:
    """Raises InvalidConfig for invalid settings of SASL listeners."""
    from .sasl_listener import Accounts, SaslListeners

    for node in config.nodes:
        listeners = {listener.name: listener for listener in node.listeners}
        settings = BrokerConfig(node.properties, nodes=len(config.nodes), rows=config.setting_rows)
        SaslListeners(settings, listeners, Accounts({}, settings, Timers(0), Random(0), lambda: None))


def parse_user(text: str) -> tuple[str, str]:
    """Returns the name and the password in `name:password`. Raises InvalidConfig, whose text does not contain the password."""
    name, separator, password = text.partition(":")
    if not name or not separator or not password:
        raise InvalidConfig("invalid user: use name:password, such as alice:secret")
    return name, password
