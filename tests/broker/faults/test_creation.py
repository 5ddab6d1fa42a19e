"""Mistakes in the options of a fault."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from odradek.broker.control_errors import InvalidControl
from odradek.broker.faults.creation import acts_of
from odradek.broker.faults.options import FaultOptions
from odradek.protocol.messages import APIS
from tests.broker.harness import World


@pytest.mark.parametrize(
    ("options", "parameter", "message"),
    [
        ({"api": "Prodce"}, "api", "api: there is no API 'Prodce'; did you mean 'Produce'?"),
        ({"api": ["Fetch", "Fech"]}, "api", "api: there is no API 'Fech'; did you mean 'Fetch'?"),
        ({"node": 7}, "node", "node: there is no node 7; use one of 1, 2"),
        ({"listener": "PLAIN"}, "listener", "listener: there is no listener 'PLAIN'; did you mean 'PLAINTEXT'?"),
        ({"error": "NOT_LEADER"}, "error", "error: there is no error code 'NOT_LEADER'; did you mean 'NOT_LEADER_OR_FOLLOWER'?"),
        ({"error": "NONE"}, "error", "error: there is no error code 'NONE'"),
        ({"skip": -1}, "skip", "skip: must be at least 0, not -1"),
        ({"every": 0}, "every", "every: must be at least 1, not 0"),
        ({"times": 0}, "times", "times: must be at least 1, not 0"),
        ({"probability": 1.5}, "probability", "probability: must be above 0 and at most 1, not 1.5"),
        ({"api": "Heartbeat", "topic": "t"}, "topic", "topic: requests of Heartbeat name no topic; leave out topic, or use another api"),
        ({"api": "Fetch", "group": "g"}, "group", "group: requests of Fetch name no group"),
        ({"api": "Fetch", "transactional_id": "t"}, "transactional_id", "requests of Fetch name no transactional_id"),
        ({"api": "CreateTopics", "partitions": 1, "error": "X"}, "partitions", "requests of CreateTopics name no partitions"),
        ({"api": "Fetch", "acks": 1}, "acks", "acks: requests of Fetch have no acks; only those of Produce have"),
        ({"delay_ms": None}, "error", "a fault needs an act, such as error"),
        ({"delay_ms": -1}, "delay_ms", "delay_ms: must be at least 0, not -1"),
        ({"stage": "after", "delay_ms": 1}, "stage", "stage: has no effect without error or drop"),
        ({"close": "rst", "delay_ms": 1}, "close", "close: has no effect without drop"),
        ({"hang_ms": 1, "delay_ms": 1}, "hang_ms", "hang_ms: has no effect without hang"),
        ({"drop": True, "error": "UNKNOWN_MEMBER_ID"}, "error", "error: cannot be combined with drop, because there is no response then"),
        ({"drop": True, "respond": {}}, "respond", "respond: cannot be combined with drop"),
        ({"drop": True, "bytes_per_s": 1}, "bytes_per_s", "bytes_per_s: cannot be combined with drop"),
        ({"drop": True, "cut_at_bytes": 1, "stage": "before"}, "stage", "stage: a response is cut after the work"),
        ({"corrupt": "crc", "api": "Produce"}, "corrupt", "corrupt: crc damages fetched batches, but api is Produce; use Fetch"),
        ({"corrupt": "crc", "delay_ms": 1}, "delay_ms", "delay_ms: cannot be combined with corrupt=crc; add a second fault"),
        ({"respond": {}}, "respond", "respond: needs one api, because each response has its own fields"),
        ({"respond": {}, "api": ["Fetch", "Produce"]}, "respond", "respond: needs one api"),
        ({"refuse": True, "times": 1}, "times", "times: cannot be combined with refuse=refused, because the client is refused before"),
        ({"refuse": "silent", "close": "fin"}, "close", "close: cannot be combined with refuse=silent"),
        ({"refuse": "closed", "topic": "t"}, "topic", "topic: cannot be combined with refuse=closed, because it is about new connections"),
    ],
)  # fmt: skip
def test_mistake_names_the_option_and_changes_nothing(options: dict[str, Any], parameter: str, message: str) -> None:
    world = World(nodes=2)
    with pytest.raises(InvalidControl) as raised:
        world.fault(**{name: value for name, value in options.items() if value is not None})
    assert message in str(raised.value)
    assert raised.value.parameter == parameter
    assert world.core.gate is None


def test_text_of_a_fault_has_its_options() -> None:
    def large(request: Any) -> bool:
        return bool(request)

    moment = datetime(2030, 1, 1, tzinfo=UTC)
    fault = World().fault(api=["Fetch", "Produce"], topic="t", until=moment, when=large, delay_ms=5)
    name = "test_text_of_a_fault_has_its_options.<locals>.large"
    assert fault.text == f"api=Fetch,Produce topic=t until=2030-01-01T00:00:00+00:00 when={name} delay_ms=5"


def test_acts_are_nested_in_a_fixed_order() -> None:
    world = World()
    options = FaultOptions(error="NOT_CONTROLLER", chunk_bytes=1, corrupt="length", throttle_ms=1, delay_ms=1, hang=True)
    names = [type(act).__name__ for act in acts_of(options, list(APIS.values()), world.core.faults)]
    assert names == ["Hang", "Delay", "Throttle", "CorruptFrame", "Trickle", "Error"]
