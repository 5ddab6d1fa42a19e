"""Requests of all kinds with the longest names and the largest numbers: any response is accepted, but no exception.

The requests name few groups, topics and members, so that many of them get far; the rest of their values is extreme.
"""

from __future__ import annotations

import logging
from random import Random
from typing import Any

import pytest

from odradek.broker.handlers import HANDLERS
from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.schema import ZERO_UUID, Message, Spec, specs
from tests.broker.harness import World

ROUNDS, REQUESTS = 12, 100
TEXTS = ("", "x" * 249, "x" * 32_767, "é" * 16_383)
NAMES = {"topic": "tu", "group": "gh", "instance": "ij", "transactional": "xy", "regex": ("t|u", ".*", "["), "protocol_type": ("consumer",)}
SUBSCRIPTION = b"\0\1\0\0\0\1\0\1t\xff\xff\xff\xff\0\0\0\0"
DATA = (b"", SUBSCRIPTION, SUBSCRIPTION[:9], b"x" * 70_000)
SMALL = (-1, 0, 1, 2, 3)
INTEGERS = {
    kind: (*SMALL, *extremes)
    for kind, extremes in {
        "b": (-(1 << 7), (1 << 7) - 1),
        "h": (-(1 << 15), (1 << 15) - 1),
        "H": ((1 << 16) - 1,),
        "i": (-(1 << 31), 10_000, (1 << 31) - 1),
        "q": (-(1 << 63), (1 << 63) - 2, (1 << 63) - 1),
    }.items()
}
CLIENT_IDS = ("a", "a", "a", "c" * 32_731, "c" * 32_767)


class Requests:
    """Draws requests. `members` are member ids that brokers have assigned."""

    def __init__(self, seed: int, world: World) -> None:
        self.chance, self.world = Random(seed), world
        self.members = ["", "m"]

    def message(self, cls: type[Message], version: int) -> Message:
        return cls(**{spec.name: self.value(spec, version) for spec in specs(cls)})

    def value(self, spec: Spec, version: int) -> Any:
        if spec.null_allowed(version) and self.chance.random() < 0.3:
            return None
        if spec.array:
            return [self.item(spec, version) for _ in range(self.chance.choice((0, 1, 1, 1, 2)))]
        return self.item(spec, version)

    def item(self, spec: Spec, version: int) -> Any:
        kind, name = spec.kind, spec.name
        if isinstance(kind, type):
            return self.message(kind, version)
        if kind == "str":
            return self.text(name)
        if kind in ("bytes", "records"):
            return self.chance.choice(DATA)
        if kind == "16s":
            return self.chance.choice((ZERO_UUID, *self.world.cluster.topics_by_id))
        if kind in ("?", "d"):
            return self.chance.choice((False, True) if kind == "?" else (0.0, float("inf"), float("nan")))
        return self.chance.choice([value for value in INTEGERS[str(kind)] if kind != "H" or value >= 0])

    def text(self, name: str) -> str:
        if self.chance.random() < 0.3:
            return self.chance.choice(TEXTS)
        if "member" in name:
            return self.chance.choice(self.members[-6:])
        return self.chance.choice(next((known for part, known in NAMES.items() if part in name), "tug"))


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_extreme_values_raise_in_no_handler(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    world = World(nodes=1, settings={"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"})
    for topic in "tu":
        world.cluster.topics.create(topic, 2, 1)
    for topic in ("__consumer_offsets", "__transaction_state"):
        world.cluster.topics.ensure_internal(topic)
    requests, chance = Requests(seed, world), Random(seed)
    apis = [handler.api for handler in HANDLERS.values() if handler.api is not API_VERSIONS]
    client, answer = world.client(), None
    for _ in range(REQUESTS):
        api = chance.choice(apis)
        version = chance.randint(api.versions.first, api.versions.last)
        if client.closed or answer is None:
            client = world.client()
        client.send(api, version, requests.message(api.request, version), chance.choice(CLIENT_IDS))
        answer = client.receive() if client.sent else None
        if member_id := getattr(answer, "member_id", None):
            requests.members.append(member_id)
        world.advance(chance.choice((1, 1, 1000, 60_000)))
    assert not [record.getMessage()[:500] for record in caplog.records]


def test_group_id_not_utf8_closes_connection() -> None:
    world = World(nodes=1)
    attacker, other = world.client(), world.client()
    request = JoinGroupRequest(group_id="QQ", session_timeout_ms=10_000, member_id="", protocol_type="consumer", protocols=[])
    attacker.feed(b"".join(encode_request(JOIN_GROUP, 9, 1, "test", request)).replace(b"QQ", b"\xff\xff"))
    assert attacker.closed == "JoinGroupRequest v9 has a string that is not UTF-8"
    assert other.call(LIST_GROUPS, 5, ListGroupsRequest(states_filter=[], types_filter=[])).groups == []


def test_client_id_too_long_for_member_id_joins_no_group() -> None:
    world = World(nodes=1)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
    request = JoinGroupRequest(group_id="g", session_timeout_ms=10_000, member_id="", protocol_type="consumer", protocols=protocols)
    client = world.client()
    assert client.call(JOIN_GROUP, 9, request, client_id="c" * 32_731).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert client.call(LIST_GROUPS, 5, ListGroupsRequest(states_filter=[], types_filter=[])).groups == []
    answer = client.call(JOIN_GROUP, 9, request, client_id="c" * 32_730)
    assert (answer.error_code, len(answer.member_id)) == (ErrorCode.MEMBER_ID_REQUIRED, 32_767)
