"""The requests to the share coordinator: epochs, fencing, updates that overlap, and invalid partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.messages.delete_share_group_state import DELETE_SHARE_GROUP_STATE
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.initialize_share_group_state import INITIALIZE_SHARE_GROUP_STATE
from odradek.protocol.messages.read_share_group_state import READ_SHARE_GROUP_STATE
from odradek.protocol.messages.read_share_group_state_summary import READ_SHARE_GROUP_STATE_SUMMARY
from odradek.protocol.messages.write_share_group_state import WRITE_SHARE_GROUP_STATE

from ..case import Case, Send, Step, Topic, id_of
from ..requests import request_of
from ..share_requests import STATE_TOPIC, delete_state, fetch, initialize, read_state, summary, write_state

APIS = (
    INITIALIZE_SHARE_GROUP_STATE,
    READ_SHARE_GROUP_STATE,
    WRITE_SHARE_GROUP_STATE,
    DELETE_SHARE_GROUP_STATE,
    READ_SHARE_GROUP_STATE_SUMMARY,
)
OVERLAPS = {
    "separate": [[(0, 4, 2, 1), (6, 9, 0, 1)]],
    "touching": [[(0, 4, 2, 1), (5, 9, 2, 1)]],
    "later-wins": [[(0, 9, 0, 1)], [(3, 5, 2, 1)]],
    "more-deliveries": [[(0, 9, 2, 1)], [(3, 12, 0, 2)]],
    "fewer-deliveries": [[(0, 9, 2, 3)], [(3, 12, 0, 2)]],
    "same-beginning": [[(0, 9, 0, 1)], [(0, 4, 2, 1)]],
    "same-end": [[(0, 9, 0, 1)], [(5, 9, 4, 1)]],
    "swallowed": [[(3, 5, 0, 1)], [(0, 9, 2, 1)]],
    "within-request": [[(0, 9, 0, 1), (4, 6, 2, 1), (8, 12, 0, 2)]],
    "reversed": [[(6, 9, 0, 1), (0, 4, 2, 1)]],
    "huge": [[(0, 10**9, 0, 1)], [(7, 7, 2, 1)]],
}


def cases() -> Iterator[Case]:
    for name, writes in OVERLAPS.items():
        topic = _topic(f"overlap.{name}")
        yield case(f"overlap.{name}", initialize(topic), *(write_state(topic, batches) for batches in writes), read_state(topic))
        topic = _topic(f"overlap.{name}.moved")
        moved = (write_state(topic, batches, start_offset=4, count=2) for batches in writes)
        yield case(f"overlap.{name}.moved", initialize(topic), *moved, read_state(topic), summary(topic))
    for version in (0, 1):
        topic = _topic(f"write.v{version}")
        written = write_state(topic, [(2, 3, 2, 1)], start_offset=1, count=2, version=version)
        yield case(f"write.v{version}", initialize(topic), written, summary(topic, version), summary(topic, 1 - version))
    yield from _epochs()
    yield from _missing()


def case(name: str, *steps: Step) -> Case:
    return Case(_topic(name), (Topic(_topic(name), {}, ((1,),)), STATE_TOPIC), steps)


def _topic(name: str) -> str:
    return f"share_states.{name}"


def _epochs() -> Iterator[Case]:
    for epoch in (-1, 0, 1, 2):
        topic = _topic(f"epoch.initialize.{epoch}")
        yield case(f"epoch.initialize.{epoch}", initialize(topic, 3, 1), initialize(topic, 5, epoch), read_state(topic), summary(topic))
        topic = _topic(f"epoch.write.{epoch}")
        yield case(
            f"epoch.write.{epoch}", initialize(topic, 0, 1), write_state(topic, [(0, 1, 2, 1)], state_epoch=epoch), read_state(topic)
        )
        topic = _topic(f"epoch.leader.{epoch}")
        steps = read_state(topic, 1), read_state(topic, epoch), write_state(topic, [(0, 1, 2, 1)], leader_epoch=epoch), summary(topic)
        yield case(f"epoch.leader.{epoch}", initialize(topic), *steps)
    topic = _topic("epoch.of-a-fetch")
    again = initialize(topic, 0, 2), fetch(1, topic, max_wait_ms=50), fetch(2, topic)
    yield case("epoch.of-a-fetch", initialize(topic, 0, 1), fetch(0, topic, max_wait_ms=300), *again, summary(topic))


def _missing() -> Iterator[Case]:
    topic = _topic("missing.state")
    steps = read_state(topic), write_state(topic), summary(topic), summary(topic, 0), delete_state(topic)
    yield case("missing.state", *steps)
    topic = _topic("missing.deleted")
    yield case(
        "missing.deleted",
        initialize(topic, 4, 2),
        delete_state(topic),
        delete_state(topic),
        read_state(topic),
        initialize(topic),
        summary(topic),
    )
    for partition in (-1, 1):
        topic = _topic(f"missing.partition.{partition}")
        steps = (
            initialize(topic, partition=partition),
            read_state(topic, partition=partition),
            write_state(topic, partition=partition),
            summary(topic, partition=partition),
            delete_state(topic, partition=partition),
        )
        yield case(f"missing.partition.{partition}", *steps)
    for name, topic in {"topic": "nobody"}.items():
        yield case(f"missing.{name}", initialize(topic), read_state(topic), write_state(topic), summary(topic), delete_state(topic))
    for api in APIS:
        topic = _topic(f"empty.{api.name}")
        requests: list[dict[str, Any]] = [
            {"group_id": "g", "topics": []},
            {"group_id": "g", "topics": [{"topic_id": id_of(topic), "partitions": []}]},
        ]
        yield case(f"empty.{api.name}", *(Send(api, 0, request_of(api, request)) for request in requests))
    topic = _topic("empty.group")
    yield case(
        "empty.group", initialize(topic, group=""), read_state(topic, group=""), summary(topic, group=""), delete_state(topic, group="")
    )
    for version in (3, 5, 6):
        for number, key in enumerate(
            ("g:AAAAAAAAAAAAAAAAAAAAAA:0", "g:h:AAAAAAAAAAAAAAAAAAAAAA:7", "g", "", "g:x:0", "g:AAAAAAAAAAAAAAAAAAAAAA:x")
        ):
            request = FindCoordinatorRequest(key=key, key_type=2, coordinator_keys=[key])
            yield case(f"coordinator.v{version}.{number}", Send(FIND_COORDINATOR, version, request))
    topic = _topic("other.node")
    others = (step._replace(node=2) for step in (initialize(topic), read_state(topic), summary(topic)))
    yield case("other.node", initialize(topic), *others)
