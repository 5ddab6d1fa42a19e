"""Evaluation of access control entries by the rules of Kafka's StandardAuthorizer (KIP-11, KIP-290).

Handlers call it through `Context.may` and `Context.demand`; DescribeAcls, CreateAcls and DeleteAcls are in handlers/acls.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ..settings.values import BrokerConfig
from .acl_texts import parse_acl
from .acls import OPERATIONS, WILDCARD, Acl, AclFilter, Operation, Pattern, PatternType, Permission, ResourceType


class Authorizer:
    """The access control entries of a cluster, and their evaluation. Principals in `super_users` have access to everything."""

    def __init__(self, super_users: Collection[str] = (), *, allow_everyone_if_no_acl_found: bool = False) -> None:
        self.super_users = frozenset(super_users)
        self._if_no_acl_found = allow_everyone_if_no_acl_found
        self._acls: dict[Acl, None] = {}
        self._longest_prefix = 0
        self._patterns: dict[Pattern, dict[Acl, None]] = {}
        """Entries by pattern, so that a decision reads only entries that may cover the resource."""

    def __iter__(self) -> Iterator[Acl]:
        """Iterates over the entries in the order in which they were added."""
        return iter(self._acls)

    def add(self, acl: Acl) -> None:
        """Adds an entry, unless it exists. Raises KafkaError with INVALID_REQUEST for an invalid one."""
        acl.check()
        self._acls[acl] = None
        self._patterns.setdefault(acl[:3], {})[acl] = None
        if acl.pattern_type is PatternType.PREFIXED:
            self._longest_prefix = max(self._longest_prefix, len(acl.resource_name))

    def remove(self, acls: Iterable[Acl]) -> None:
        """Removes the entries that exist."""
        for acl in acls:
            if self._acls.pop(acl, acl) is None:
                entries = self._patterns[acl[:3]]
                del entries[acl]
                if not entries:
                    del self._patterns[acl[:3]]

    def find(self, acl_filter: AclFilter) -> list[Acl]:
        """Returns the entries that a filter selects, in the order in which they were added."""
        entries: Iterable[Acl] = self._acls
        names_one_pattern = acl_filter.resource_type is not ResourceType.ANY and acl_filter.pattern_type not in (
            PatternType.ANY,
            PatternType.MATCH,
        )
        if acl_filter.resource_name is not None and names_one_pattern:
            entries = self._patterns.get((acl_filter.resource_type, acl_filter.resource_name, acl_filter.pattern_type), ())
        return [acl for acl in entries if acl_filter.matches(acl)]

    def _covering(self, resource_type: ResourceType, name: str) -> list[Acl]:
        """Returns the entries for a resource: those with its name, those for all names, and those with a prefix of its name."""
        patterns = [(resource_type, each, PatternType.LITERAL) for each in dict.fromkeys((name, WILDCARD))]
        prefixes = range(1, min(len(name), self._longest_prefix) + 1)
        patterns += [(resource_type, name[:length], PatternType.PREFIXED) for length in prefixes]
        return [acl for pattern in patterns for acl in self._patterns.get(pattern, ())]

    def allows(self, principal: str, host: str, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """Returns whether a client may perform an operation on a resource.

        A single DENY entry takes precedence over all ALLOW entries. Without any entry for the resource,
        allow.everyone.if.no.acl.found decides.
        """
        if principal in self.super_users:
            return True
        covering = self._covering(resource_type, name)
        if not covering:
            return self._if_no_acl_found
        permissions = {acl.permission_type for acl in covering if acl.applies_to(principal, host) and acl.decides(operation)}
        return permissions == {Permission.ALLOW}

    def allowed_operations(self, principal: str, host: str, resource_type: ResourceType, name: str) -> list[Operation]:
        """Returns the operations of `OPERATIONS` that a client may perform on a resource."""
        return [each for each in OPERATIONS[resource_type] if self.allows(principal, host, each, resource_type, name)]

    def allows_somewhere(self, principal: str, host: str, operation: Operation, resource_type: ResourceType) -> bool:
        """Returns whether a client may perform an operation on at least one resource of a type, which need not exist.

        This is Kafka's Authorizer.authorizeByResourceType, which decides whether a producer may be idempotent.
        """
        # Kafka checks a resource of this name too, so that super users and allow.everyone.if.no.acl.found are taken into account.
        if self.allows(principal, host, operation, resource_type, "hardcode"):
            return True
        relevant = [acl for acl in self._of(principal, host, resource_type) if acl.operation in (Operation.ALL, operation)]
        denied = [acl for acl in relevant if acl.permission_type is Permission.DENY]
        if any(acl.pattern_type is PatternType.LITERAL and acl.resource_name == WILDCARD for acl in denied):
            return False
        return any(acl.permission_type is Permission.ALLOW and not any(_overrides(each, acl) for each in denied) for acl in relevant)

    def _of(self, principal: str, host: str, resource_type: ResourceType) -> Iterator[Acl]:
        return (acl for acl in self._acls if acl.resource_type is resource_type and acl.applies_to(principal, host))


def _overrides(denied: Acl, allowed: Acl) -> bool:
    """Returns whether a DENY entry covers everything that an ALLOW entry allows."""
    if denied.pattern_type is PatternType.PREFIXED:
        everything = allowed.pattern_type is PatternType.LITERAL and allowed.resource_name == WILDCARD
        return not everything and allowed.resource_name.startswith(denied.resource_name)
    return allowed.pattern_type is PatternType.LITERAL and allowed.resource_name == denied.resource_name


def authorizer_of(config: BrokerConfig, acls: Iterable[str] = ()) -> Authorizer:
    """Returns an authorizer with the settings of a cluster, and with entries in the form of `acl_texts.py`."""
    texts = config.texts
    super_users = [user.strip() for user in texts.get("super.users", "").split(";") if user.strip()]
    allow_everyone = texts.get("allow.everyone.if.no.acl.found", "").lower() == "true"
    authorizer = Authorizer(super_users, allow_everyone_if_no_acl_found=allow_everyone)
    for text in acls:
        for acl in parse_acl(text):
            authorizer.add(acl)
    return authorizer
