"""After any sequence of controls and a reset, a new client works with the cluster within seconds.

The controls come from the registry, and their arguments from the types and names of their parameters, so that a new control is covered
without a line here. Some arguments are refused, which must leave the cluster as usable as if they were accepted.
"""

from __future__ import annotations

import inspect
import socket
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random, SystemRandom
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from odradek import Cluster
from odradek.broker.control_errors import ControlError
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from tests.broker.network.client import ask, connect

pytestmark = [pytest.mark.sockets, pytest.mark.clients]

SEED = SystemRandom().getrandbits(32)
SEQUENCES, CONTROLS_A_SEQUENCE = 8, 12
LIMIT_S = 5.0
KNOWN = ("topic", "node", "group", "partition", "error", "members", "state")
"""Options that are given more often than others, because their values are valid more often."""
LEFT: list[socket.socket] = []
"""The connection of the client to which controls can refer."""
NEED_DATA = [("fault", "preset", "torn-write")]
"""The controls that a cluster without a data directory refuses."""
ATTEMPTS = 3
"""Other programs can delay a single attempt."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=3, topics={"orders": 2}, seed=1) as running:
        yield running
    _close_left()


@pytest.fixture(scope="module")
def with_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(nodes=3, topics={"orders": 2}, seed=1, data_dir=tmp_path_factory.mktemp("data")) as running:
        yield running
    _close_left()


@pytest.mark.parametrize("number", range(SEQUENCES))
def test_new_client_works_after_any_controls_and_reset(cluster: Cluster, number: int, tmp_path: Path) -> None:
    random = Random(f"{SEED} {number}")
    _prepare(cluster)
    called = [_call(cluster, random.choice(list(CONTROLS.values())), random, tmp_path) for _ in range(CONTROLS_A_SEQUENCE)]
    for attempt in range(ATTEMPTS):
        cluster.reset()
        missing = _use(cluster, f"new-{number}-{attempt}")
        if missing is None:
            return
    pytest.fail(f"seed {SEED}: {missing} did not succeed within {LIMIT_S} s after {called}")


@pytest.mark.parametrize("declared", CONTROLS.values(), ids=lambda declared: " ".join(declared.words))
def test_each_control_can_be_called_with_generated_arguments(declared: Control, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A control that refuses all arguments would be missing in the sequences. Some require that another one of their family was called."""
    cluster: Cluster = request.getfixturevalue("with_data" if declared.words in NEED_DATA else "cluster")
    random = Random(SEED)
    family = [each for each in CONTROLS.values() if each.words[0] == declared.words[0]]
    for _ in range(20):
        _prepare(cluster)
        for each in [declared, *(call for _ in range(10) for call in (random.choice(family), declared))]:
            if _call(cluster, each, random, tmp_path).endswith("done") and each is declared:
                return
    pytest.fail(f"seed {SEED}: no call succeeded")


def _prepare(cluster: Cluster) -> None:
    """Creates objects to which the controls can refer: a snapshot, a record, a client that is connected, and a group with an offset."""
    _close_left()
    cluster.reset()
    cluster.snapshot()
    cluster.produce("orders", ["value"])
    LEFT.append(connect(cluster.bootstrap_servers.split(",")[0]))
    ask(LEFT[-1], API_VERSIONS, 0, ApiVersionsRequest(client_software_name="", client_software_version=""))
    with closing(Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g"})) as consumer:
        consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)


def _close_left() -> None:
    while LEFT:
        LEFT.pop().close()


def _call(cluster: Cluster, declared: Control, random: Random, folder: Path) -> str:
    """Calls a control with random arguments. Returns the call as text with its result, `done` or the error of the control."""
    owner = getattr(cluster, declared.owner) if declared.owner else cluster
    hints = get_type_hints(declared.method, include_extras=True)
    arguments = {}
    parameters = list(inspect.signature(declared.method).parameters.values())[1:]
    rare = min(0.4, 1 / (len(parameters) or 1))  # few of many options, because most combinations of many are refused
    for parameter in parameters:
        chance = 0.4 if parameter.name in KNOWN else rare
        is_given = parameter.default is parameter.empty or parameter.name == "timeout_s" or random.random() < chance
        if is_given and not _has_function(hints[parameter.name]):
            arguments[parameter.name] = _argument(cluster, parameter.name, hints[parameter.name], random, folder)
    try:
        getattr(owner, declared.method.__name__)(**arguments)
    except ControlError as error:
        result = repr(error)
    else:
        result = "done"
    return f"{declared.method.__name__}({arguments}): {result}"


def _has_function(annotation: Any) -> bool:
    """Returns whether a value may be a function, which only Python programs can pass."""
    return get_origin(annotation) is Callable or any(map(_has_function, get_args(annotation)))


def _argument(cluster: Cluster, name: str, annotation: Any, random: Random, folder: Path) -> Any:
    """Returns a value for a parameter: one that its name suggests, or any of its type."""
    by_name: dict[str, Any] = {
        "node": lambda: random.choice((1, 2, 3, 9)),
        "topic": lambda: random.choice([topic.name for topic in cluster.topics()] + ["ordrs", "new"]),
        "partition": lambda: random.choice((0, 0, 1, 5)),
        "group": lambda: random.choice(("g", "h")),
        "snapshot": lambda: random.choice([*cluster.snapshots(), 99]),
        "timeout_s": lambda: 0.0,
        "moment": lambda: cluster.clock.state().now + timedelta(seconds=random.choice((-5, 1, 600))),
        "speed": lambda: random.choice((0.5, 60, -1)),
        "file": lambda: folder / random.choice(("state", "none/state")),
        "directory": lambda: folder / random.choice(("kafka", "new/kafka")),  # no parent of it has the name of a file
        "records": lambda: ["value", ("key", "value")],
        "fault": lambda: random.choice([each.fault for each in cluster.list_faults()] or [1]),
        "pause_s": lambda: 0.0,
        "seconds": lambda: 0.0,  # a frozen clock would never end a longer outage
        "client_id": lambda: random.choice([*(each.client_id for each in cluster.connections()), "nobody"]),
        "api": lambda: random.choice(("Produce", "Fetch", "Metadata")),
        "error": lambda: random.choice(("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_SERVER_ERROR", "NONE")),
        "point": lambda: random.choice(("Produce#1@producer:lost-response", "Produce#1:late")),
        "order": lambda: random.choice(("orders-0#1:gone", "orders-0:gone")),
        "subject": lambda: random.choice(("orders", "x")),
        "schema": lambda: random.choice(('"string"', '"long"', "{")),
        "schema_type": lambda: random.choice(("AVRO", "JSON")),
        "references": list,
        "replicas": lambda: random.sample((1, 2, 3), random.randint(1, 3)),
    }
    is_number = get_args(annotation)[:1] == (int,)
    return _of_type(annotation, random) if name not in by_name or (name == "records" and is_number) else by_name[name]()


def _of_type(annotation: Any, random: Random) -> Any:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _of_type(parts[0], random)
    if origin in (Union, types.UnionType):
        return _of_type(random.choice(parts), random)
    if origin is Literal:
        return random.choice(parts)
    if origin in (list, Sequence, tuple):
        return [_of_type(parts[0], random)]
    if origin in (dict, Mapping):
        return {}
    simple: dict[Any, Any] = {
        type(None): None,
        bool: random.random() < 0.5,
        int: random.choice((-1, 0, 1, 2)),
        float: random.choice((-1.0, 0.0, 0.5, 2.0)),
        str: random.choice(("orders", "x", "")),
        bytes: b"x",
        timedelta: timedelta(seconds=2),
        datetime: random.choice((datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))),
    }
    assert annotation in simple, f"add values of the type {annotation} or of the parameter's name"
    return simple[annotation]


def _use(cluster: Cluster, topic: str) -> str | None:
    """Creates a topic, produces, consumes in a group and commits. Returns the first of these that took too long, None for success."""
    end_s = time.monotonic() + LIMIT_S
    config: dict[str, str | int | float | bool] = {"bootstrap.servers": cluster.bootstrap_servers}

    def left_s() -> float:
        return max(0.01, end_s - time.monotonic())

    admin = AdminClient(config)
    try:
        admin.create_topics([NewTopic(topic, 1, 2)], request_timeout=left_s())[topic].result(left_s())
    except Exception as error:
        return f"create a topic ({error})"
    producer = Producer(config)
    producer.produce(topic, b"value")
    if producer.flush(left_s()):
        return "produce"
    with closing(Consumer(config | {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False})) as consumer:
        consumer.subscribe([topic])
        messages = consumer.consume(1, left_s())
        if not messages or messages[0].error():
            return "consume in a group"
        try:
            committed = consumer.commit(message=messages[0], asynchronous=False)
        except Exception as error:
            return f"commit ({error})"
        return None if committed == [TopicPartition(topic, 0, 1)] and left_s() > 0.01 else "commit"
