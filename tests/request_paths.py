"""Traces the files that a request passes through, for the lists in ARCHITECTURE.md. `make docs` writes them.

Each request is sent once before it is traced, so that code which runs once per process, such as compiling codecs, is not in the list.
Only files of broker/ and storage/ are listed, in the order in which they are entered first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import Client, World, a_batch, produce_request

ROOT = Path(__file__).parents[1]
SECTION = "## The files of four requests"
LISTS = re.compile(rf"(?<=^{SECTION}\n)(?:(?!^## ).*\n?)*", re.MULTILINE)
INTRODUCTION = """
The files of broker/ and storage/ that each request enters, in the order in which it enters them first. `make docs` writes the lists, and
tests/tidy/test_request_paths.py compares them with a trace. Produce is the first one of its connection; the next ones to the same
partition go from broker/connections/connection.py to broker/appending/produce_shapes.py and from there to storage/log.py, or to append.py.
"""


def files_entered(action: Callable[[], object]) -> list[str]:
    """Returns the files of broker/ and storage/ in which functions are called during `action`, in order of the first call."""
    entered: dict[str, None] = {}
    prefixes = {f"{ROOT}/{folder}/": folder for folder in ("broker", "storage")}

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            path = frame.f_code.co_filename.replace("/.dev/odradek/", "/")
            if any(path.startswith(prefix) for prefix in prefixes):
                entered[str(Path(path).relative_to(ROOT))] = None

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(entered)


def paths() -> dict[str, list[str]]:
    """Returns the files of Produce, Fetch, JoinGroup and CreateTopics by the name of the API."""
    world = World(nodes=1)
    world.cluster.topics.create("orders", 1, 1)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    found = {}
    for name, request in {"Produce": _produce, "Fetch": _fetch, "JoinGroup": _join_group, "CreateTopics": _create_topics}.items():
        for number in range(2):
            client = world.client()
            found[name] = files_entered(lambda: request(client, number))  # noqa: B023  (called at once)
    return found


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


def section() -> str:
    """Returns the text of the section with the present lists, without its heading."""
    return INTRODUCTION + "".join(f"\n{name}\n\n```text\n{_lines(files)}```\n" for name, files in paths().items())


def _lines(files: list[str]) -> str:
    return "".join(f"{file}\n" for file in files)


def listed(architecture: str) -> dict[str, list[str]]:
    """Returns the files of each fenced list in the section, by the name above the list."""
    return dict(_lists(architecture))


def _lists(architecture: str) -> Iterator[tuple[str, list[str]]]:
    match = LISTS.search(architecture)
    for name, files in re.findall(r"^(\w+)\n\n```text\n(.*?)```", match[0] if match else "", re.MULTILINE | re.DOTALL):
        yield name, files.split()


def rewritten(architecture: str) -> str:
    """Returns ARCHITECTURE.md with the present lists. Raises ValueError if it has no such section."""
    match = LISTS.search(architecture)
    if match is None:
        raise ValueError(f"ARCHITECTURE.md has no section {SECTION!r}")
    rest = architecture[match.end() :]
    return architecture[: match.start()] + section() + ("\n" if rest else "") + rest
