"""Traces the files that a request passes through: `make paths`.

Each request is sent once before it is traced, so that code which runs once per process, such as compiling codecs, is not in the list.
Only files of broker/ and storage/ are listed, in the order in which they are entered first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from odradek.broker.snapshots.cluster import write_cluster
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import Client, World, a_batch, produce_request

ROOT = Path(__file__).parents[1]
PRODUCT_FILE = re.compile(rf"{re.escape(str(ROOT))}/(?:\.dev/odradek/)?((?:broker|storage|protocol)/.*)")


class Trace(NamedTuple):
    """The files that an action enters: those of broker/ and storage/ in order of the first call, and how often it changes the file.

    A change is a call from a function of broker/, storage/ or protocol/ to one in another of their files, or the return from it.
    """

    files: list[str]
    changes: int


def trace(action: Callable[[], object]) -> Trace:
    """Returns what `action` enters. A generator that is resumed counts as called, and as returning when it yields."""
    entered: dict[str, None] = {}
    passed: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        present = frame if event == "call" else frame.f_back if event == "return" else None
        if present is not None and (match := PRODUCT_FILE.match(present.f_code.co_filename)):
            passed.append(match[1])
            if event == "call":
                entered[match[1]] = None

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    files = [file for file in entered if not file.startswith("protocol/")]
    return Trace(files, sum(file != former for former, file in pairwise(passed)))


def paths() -> dict[str, Trace]:
    """Returns the traces of Produce, Fetch, JoinGroup and CreateTopics."""
    world = _world()
    found = {}
    for name, request in {"Produce": _produce, "Fetch": _fetch, "JoinGroup": _join_group, "CreateTopics": _create_topics}.items():
        for number in range(2):
            client = world.client()
            found[name] = trace(lambda: request(client, number))  # noqa: B023  (called at once)
    return found


def other_paths() -> dict[str, Trace]:
    """Returns the traces of the second Produce of a connection, of one that a fault refuses, and of a cluster that takes a former state."""
    world = _world()
    for _ in range(2):
        client = world.client()
        _produce(client, 0)
        repeated = trace(lambda: _produce(client, 1))  # noqa: B023  (called at once)
    for number in range(2):
        world.fault(api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1)
        hit = trace(lambda: _produce(client, number))  # noqa: B023
    for _ in range(2):
        state = write_cluster(world.cluster)
        restored = trace(lambda: world.restore(state, continues=True))  # noqa: B023
    return {"Produce, repeated": repeated, "Produce, hit by a fault": hit, "restore of a snapshot": restored}


def _world() -> World:
    world = World(nodes=1)
    world.cluster.topics.create("orders", 1, 1)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    return world


def _produce(client: Client, _: int) -> None:
    client.call(PRODUCE, 9, produce_request("orders", a_batch(b"x")))


def _fetch(client: Client, _: int) -> None:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic="orders", partitions=[partition])]
    client.call(FETCH, 12, FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics, forgotten_topics_data=[]))


def _join_group(client: Client, number: int) -> None:
    protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
    request = JoinGroupRequest(
        group_id=f"group-{number}",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=protocols,
    )
    client.send(JOIN_GROUP, 3, request)
    client.world.advance(3000)  # group.initial.rebalance.delay.ms
    assert client.receive().error_code == 0


def _create_topics(client: Client, number: int) -> None:
    topic = CreatableTopic(name=f"new-{number}", num_partitions=1, replication_factor=1, assignments=[], configs=[])
    client.call(CREATE_TOPICS, 7, CreateTopicsRequest(topics=[topic], timeout_ms=1000))


def _lines(files: list[str]) -> str:
    return "".join(f"{file}\n" for file in files)


def table() -> str:
    """Returns a table of the files that each path enters, and of the changes of file."""
    lines = [f"{name:25}{len(traced.files):6}{traced.changes:9}\n" for name, traced in (paths() | other_paths()).items()]
    return f"{'':25}{'files':>6}{'changes':>9}\n{''.join(lines)}"


def main() -> None:
    """Prints the table, or the files of the path that the first argument names."""
    if len(sys.argv) < 2:
        sys.stdout.write(table())
    else:
        sys.stdout.write(_lines((paths() | other_paths())[sys.argv[1]].files))


if __name__ == "__main__":
    main()
