"""Client quotas of users, client ids and IP addresses (KIP-546; Kafka's ClientQuotaControlManager and ClientQuotasImage).

`ClientQuotas` stores them and decides which one applies to a client. The folder `throttling` enforces them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError
from ..kafka_quirks.java_hash import hash_map_order

CLIENT_ID, USER, IP = "client-id", "user", "ip"
ENTITY_TYPES = (CLIENT_ID, USER, IP)
"""The types of entity parts, in the order of Kafka's responses."""
LOOPBACKS = ("127.0.0.1", "::1")
LONG_MAX, INT_MAX = 2.0**63, 2.0**31 - 1
INTEGRAL_TOLERANCE = 1e-6
"""The maximum deviation of an integral quota from a whole number."""

Entity = tuple[tuple[str, str | None], ...]
"""The (type, name) of each part, in the order of `ENTITY_TYPES`. The name None stands for the default entity of the type."""


class QuotaKey(NamedTuple):
    """The type of a quota: its highest value, and the name of Kafka's integral type, "" if fractions are allowed."""

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


class Applying(NamedTuple):
    """The quota that applies to a client, and the part of (user, client id) that shares it; "" stands for any."""

    limit: float
    shared_by: tuple[str, str]


class Match(NamedTuple):
    """A filter of entities.

    It requires the names in `exact` (by type; None is the default entity) and any name for the types in `any_of`. A `strict` filter rejects
    entities with parts of other types.
    """

    exact: Mapping[str, str | None]
    any_of: Collection[str]
    strict: bool

    def __call__(self, entity: Entity) -> bool:
        """Returns whether an entity matches."""
        parts = dict(entity)
        if self.strict and len(parts) != len(self.exact) + len(self.any_of):
            return False
        exact = all(kind in parts and parts[kind] == name for kind, name in self.exact.items())
        return exact and all(kind in parts for kind in self.any_of)


def entity_of(parts: Mapping[str, str | None]) -> Entity:
    """Returns the entity with these parts. Unknown types, which `ClientQuotas.alter` refuses, come last."""
    known = [(kind, parts[kind]) for kind in ENTITY_TYPES if kind in parts]
    return (*known, *((kind, name) for kind, name in parts.items() if kind not in ENTITY_TYPES))


class ClientQuotas:
    """The quotas by entity."""

    def __init__(self) -> None:
        self._quotas: dict[Entity, dict[str, float]] = {}
        self.on_change: list[Callable[[], None]] = []
        """Called after each alteration."""

    def __bool__(self) -> bool:
        return bool(self._quotas)

    def alter(self, entity: Entity, changes: Mapping[str, float | None], *, validate_only: bool) -> None:
        """Sets quotas, and removes those with the value None.

        Raises KafkaError with INVALID_REQUEST, and changes nothing, if one of the changes is refused.
        """
        keys = _check_entity(entity)
        for key, value in changes.items():
            if value is not None:
                _check_value(keys, key, value)
        if validate_only:
            return
        if quotas := _merge_quotas(self._quotas.get(entity, {}), changes):
            self._quotas[entity] = quotas
        else:
            self._quotas.pop(entity, None)
        for changed in self.on_change:
            changed()

    def find(self, match: Match) -> Sequence[tuple[Entity, Mapping[str, float]]]:
        """Returns the entities that match, with their quotas."""
        return [(entity, quotas) for entity, quotas in self._quotas.items() if match(entity)]

    def applying(self, key: str, user: str, client_id: str) -> Applying | None:
        """Returns the quota `key` of a client, None if it has none (Kafka's DefaultQuotaCallback).

        The most specific entity counts: user and client id, then user, then client id, each before its default. All clients of a user
        share the quota of the user, and clients with the same user and client id share that of a default client id.
        """
        for entity, shared_by in _entities_of(user, client_id):
            limit = self._quotas.get(entity, {}).get(key)
            if limit is not None:
                return Applying(limit, shared_by)
        return None

    def connection_rate(self, host: str) -> float | None:
        """Returns the connection_creation_rate of an address, None if it has none."""
        names = (host, "localhost", None) if host in LOOPBACKS else (host, None)
        rates = (self._quotas.get(((IP, name),), {}).get("connection_creation_rate") for name in names)
        return next((rate for rate in rates if rate is not None), None)


def _merge_quotas(quotas: Mapping[str, float], changes: Mapping[str, float | None]) -> dict[str, float]:
    """Returns the quotas after an alteration, in the order of the HashMap that Kafka's ClientQuotaDelta builds for each alteration."""
    order = [*quotas, *(key for key in hash_map_order(changes) if key not in quotas)]
    altered = {key: value for key, value in {**quotas, **changes}.items() if value is not None}
    return {key: altered[key] for key in hash_map_order([key for key in order if key in altered], len(quotas))}


def _entities_of(user: str, client_id: str) -> Iterator[tuple[Entity, tuple[str, str]]]:
    """Yields the entities that concern a client, the most specific one first, with the part of (user, client id) that shares them."""
    both, user_only, client_only = (user, client_id), (user, ""), ("", client_id)
    clients = [client_id, None] if client_id else []
    for name in clients:
        yield ((CLIENT_ID, name), (USER, user)), both
    yield ((USER, user),), user_only
    for name in clients:
        yield ((CLIENT_ID, name), (USER, None)), both
    yield ((USER, None),), user_only
    for name in clients:
        yield ((CLIENT_ID, name),), client_only


def _check_entity(entity: Entity) -> Mapping[str, QuotaKey]:
    """Returns the quotas that are valid for the entity, by key. Raises KafkaError with INVALID_REQUEST for an invalid entity."""
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
    """Returns whether the name of an IP entity is valid: an address, the default (None), or localhost, which needs no name server."""
    from ipaddress import ip_address

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
    if key.integral and value % 1 > INTEGRAL_TOLERANCE:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} cannot be a fractional value.")
