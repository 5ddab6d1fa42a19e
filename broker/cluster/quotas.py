"""The quotas of users, client ids and addresses (KIP-546; Kafka's ClientQuotaControlManager and ClientQuotasImage).

They are stored and described. Nothing is throttled by them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError

CLIENT_ID, USER, IP = "client-id", "user", "ip"
ENTITY_TYPES = (CLIENT_ID, USER, IP)
"""In the order in which Kafka tells them."""
LONG_MAX, INT_MAX = 2.0**63, 2.0**31 - 1
WHOLE = 1e-6
"""A rate in whole bytes may differ from a whole number by this much."""

Entity = tuple[tuple[str, str | None], ...]
"""Type and name of each part, in the order of `ENTITY_TYPES`; the name None is the default of its type."""


class QuotaKey(NamedTuple):
    """The largest value of a quota, and the name of Kafka's type for whole numbers; "" if fractions are allowed."""

    highest: float
    integral: str


_RATE, _PERCENTAGE = QuotaKey(LONG_MAX, "LONG"), QuotaKey(float("inf"), "")
USER_KEYS = {
    "producer_byte_rate": _RATE,
    "consumer_byte_rate": _RATE,
    "controller_mutation_rate": _PERCENTAGE,
    "request_percentage": _PERCENTAGE,
}
IP_KEYS = {"connection_creation_rate": QuotaKey(INT_MAX, "INT")}


class Match(NamedTuple):
    """A filter: an entity needs the `exact` names by type (None is the default of a type) and any name of each type in `any_of`."""

    exact: Mapping[str, str | None]
    any_of: Collection[str]
    strict: bool

    def __call__(self, entity: Entity) -> bool:
        """Whether the filter lets the entity pass; a strict one lets no entity pass that has further parts."""
        parts = dict(entity)
        if self.strict and len(parts) != len(self.exact) + len(self.any_of):
            return False
        named = all(kind in parts and parts[kind] == name for kind, name in self.exact.items())
        return named and all(kind in parts for kind in self.any_of)


def entity_of(parts: Mapping[str, str | None]) -> Entity:
    """Returns the entity of these parts. Unknown types come last; `ClientQuotas.alter` refuses them."""
    known = [(kind, parts[kind]) for kind in ENTITY_TYPES if kind in parts]
    return (*known, *((kind, name) for kind, name in parts.items() if kind not in ENTITY_TYPES))


class ClientQuotas:
    """The quotas that are set, by entity."""

    def __init__(self) -> None:
        self._quotas: dict[Entity, dict[str, float]] = {}

    def alter(self, entity: Entity, changes: Mapping[str, float | None], *, validate_only: bool) -> None:
        """Sets quotas, and removes those whose value is None. Raises INVALID_REQUEST and changes nothing if one is refused."""
        keys = _check_entity(entity)
        for key, value in changes.items():
            if value is not None:
                _check_value(keys, key, value)
        if validate_only:
            return
        quotas = self._quotas.setdefault(entity, {})
        for key, value in changes.items():
            if value is None:
                quotas.pop(key, None)
            else:
                quotas[key] = value
        if not quotas:
            del self._quotas[entity]

    def find(self, match: Match) -> Sequence[tuple[Entity, Mapping[str, float]]]:
        """The entities that a filter lets pass, with their quotas."""
        return [(entity, quotas) for entity, quotas in self._quotas.items() if match(entity)]


def _check_entity(entity: Entity) -> Mapping[str, QuotaKey]:
    """Returns the quotas that the entity may have."""
    if not entity:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid empty client quota entity")
    for kind, name in entity:
        if kind not in ENTITY_TYPES:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Empty {kind} not supported")
    parts = dict(entity)
    if IP not in parts:
        return USER_KEYS
    if len(parts) > 1:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, "Invalid quota entity combination, IP entity should not be combined with User or ClientId"
        )
    if not _is_address(parts[IP]):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{parts[IP]} is not a valid IP or resolvable host.")
    return IP_KEYS


def _is_address(text: str | None) -> bool:
    """Whether a text is an address, or `localhost`, the one name that needs no name server."""
    if text is None or text == "localhost":
        return True
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _check_value(keys: Mapping[str, QuotaKey], name: str, value: float) -> None:
    key = keys.get(name)
    if key is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Invalid configuration key {name}")
    if value <= 0:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Quota {name} must be greater than 0")
    if value > key.highest:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Proposed value for {name} is too large for a {key.integral}.")
    if key.integral and value % 1 > WHOLE:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} cannot be a fractional value.")
