"""Controls that describe access: ACLs, and the users that can authenticate. Passwords and keys are never part of a result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..frozen_data import FrozenData
from .declaration import Controls, control

if TYPE_CHECKING:
    from ..cluster.state import ClusterState


class AclInfo(FrozenData):
    """One access control entry, in Kafka's terms: `pattern_type` is LITERAL or PREFIXED, `permission` is ALLOW or DENY."""

    principal: str
    permission: str
    operation: str
    resource_type: str
    resource_name: str
    pattern_type: str
    host: str


class UserInfo(FrozenData):
    """One user. `mechanisms` are those of SASL with which the user can authenticate; `super_user` may do everything."""

    name: str
    mechanisms: list[str]
    super_user: bool


class AccessControls(Controls):
    """The ACLs and the users of a cluster."""

    @control("acl list", reads=True)
    async def acls(self) -> list[AclInfo]:
        """Returns the access control entries in the order in which they were added; none if the cluster has no authorizer."""
        authorizer = self._server.cluster.authorizer
        return [
            AclInfo(
                principal=acl.principal,
                permission=acl.permission_type.name,
                operation=acl.operation.name,
                resource_type=acl.resource_type.name,
                resource_name=acl.resource_name,
                pattern_type=acl.pattern_type.name,
                host=acl.host,
            )
            for acl in (authorizer or ())
        ]

    @control("user list", reads=True)
    async def users(self) -> list[UserInfo]:
        """Returns the users with a password for PLAIN or SCRAM credentials, and the super users, by name."""
        cluster = self._server.cluster
        mechanisms: dict[str, dict[str, None]] = {}
        for user, mechanism in _credentials(cluster):
            mechanisms.setdefault(user, {})[mechanism] = None
        principals = () if cluster.authorizer is None else cluster.authorizer.super_users
        super_users = {principal.removeprefix("User:") for principal in principals}
        return [UserInfo(name, sorted(mechanisms.get(name, ())), name in super_users) for name in sorted(mechanisms.keys() | super_users)]


def _credentials(cluster: ClusterState) -> Iterator[tuple[str, str]]:
    """Yields users and mechanisms. A cluster without users and without SASL listeners need not import their modules."""
    for broker in cluster.brokers.values():
        for name in broker.listeners:
            listener = broker.sasl_listener(name)
            if listener is not None and "PLAIN" in listener.enabled:
                yield from ((user, "PLAIN") for user in listener.plain_users)
    if "accounts" in vars(cluster):
        from ..security.scram_credentials import MECHANISMS

        credentials = cluster.accounts.scram_credentials
        for user in credentials:
            yield from ((user, MECHANISMS[number].name) for number in credentials.of(user))
