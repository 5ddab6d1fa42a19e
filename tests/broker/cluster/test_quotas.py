"""Client quotas: entities, values and filters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.cluster.quotas import ENTITY_TYPES, ClientQuotas, Entity, Match, entity_of
from odradek.protocol.errors import ErrorCode, KafkaError

ALICE = entity_of({"user": "alice"})
ALICES_APP = entity_of({"user": "alice", "client-id": "app"})
DEFAULT_USER = entity_of({"user": None})
ADDRESS = entity_of({"ip": "127.0.0.1"})
ALL = Match({}, (), strict=False)


def test_alter_sets_and_removes_quotas() -> None:
    quotas = ClientQuotas()
    quotas.alter(ALICE, {"producer_byte_rate": 10.0, "request_percentage": 2.5}, validate_only=False)
    quotas.alter(ALICE, {"producer_byte_rate": 20.0, "request_percentage": None, "consumer_byte_rate": None}, validate_only=False)
    assert quotas.find(ALL) == [(ALICE, {"producer_byte_rate": 20.0})]
    quotas.alter(ALICE, {"producer_byte_rate": None}, validate_only=False)
    assert quotas.find(ALL) == []


@pytest.mark.parametrize(
    ("entity", "key", "value"),
    [
        ((), "producer_byte_rate", 1.0),
        (entity_of({"group": "g"}), "producer_byte_rate", 1.0),
        (entity_of({"user": ""}), "producer_byte_rate", 1.0),
        (entity_of({"ip": "127.0.0.1", "user": "alice"}), "connection_creation_rate", 1.0),
        (entity_of({"ip": "1.2.3.4.5"}), "connection_creation_rate", 1.0),
        (ADDRESS, "producer_byte_rate", 1.0),
        (ALICE, "connection_creation_rate", 1.0),
        (ALICE, "producer_byte_rate", 0.0),
        (ALICE, "producer_byte_rate", 1.5),
        (ALICE, "producer_byte_rate", 1e19),
        (ADDRESS, "connection_creation_rate", 2.0**31),
    ],
)
def test_alter_refused_changes_nothing(entity: Entity, key: str, value: float) -> None:
    quotas = ClientQuotas()
    with pytest.raises(KafkaError) as refused:
        quotas.alter(entity, {"request_percentage": None, key: value}, validate_only=False)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert quotas.find(ALL) == []


def test_alter_validate_only_changes_nothing() -> None:
    quotas = ClientQuotas()
    quotas.alter(ALICE, {"producer_byte_rate": 10.0}, validate_only=True)
    assert quotas.find(ALL) == []


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        (Match({"user": "alice"}, (), strict=False), [ALICE, ALICES_APP]),
        (Match({"user": "alice"}, (), strict=True), [ALICE]),
        (Match({"user": None}, (), strict=False), [DEFAULT_USER]),
        (Match({}, {"user"}, strict=False), [ALICE, ALICES_APP, DEFAULT_USER]),
        (Match({"user": "alice"}, {"client-id"}, strict=True), [ALICES_APP]),
        (Match({}, {"ip"}, strict=True), [ADDRESS]),
        (Match({}, (), strict=True), []),
    ],
)
def test_find_returns_matching_entities(match: Match, expected: list[Entity]) -> None:
    quotas = ClientQuotas()
    for entity in (ALICE, ALICES_APP, DEFAULT_USER):
        quotas.alter(entity, {"producer_byte_rate": 10.0}, validate_only=False)
    quotas.alter(ADDRESS, {"connection_creation_rate": 10.0}, validate_only=False)
    assert [entity for entity, _ in quotas.find(match)] == expected


@given(st.permutations([("user", "a"), ("client-id", "b"), ("ip", None)]))
def test_entity_of_is_independent_of_the_order(parts: list[tuple[str, str | None]]) -> None:
    assert [kind for kind, _ in entity_of(dict(parts))] == list(ENTITY_TYPES)
