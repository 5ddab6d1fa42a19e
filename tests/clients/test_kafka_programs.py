"""Kafka's programs for features, client metrics, loggers and log directories print the same with odradek as with Apache Kafka."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from odradek import Cluster
from tests.apache_kafka import QUICK, ApacheKafka
from tests.clients.kafka_programs import Programs

pytestmark = [pytest.mark.sockets, pytest.mark.clients, pytest.mark.apache_kafka, pytest.mark.slow]

TOOLS = "org.apache.kafka.tools"
SETTINGS = {"auto.create.topics.enable": "false", "num.partitions": "2"}
MASKED = re.compile(r"Epoch: \d+|127\.0\.0\.1:\d+")


class Target(NamedTuple):
    """A cluster of one node with two log directories."""

    bootstrap_servers: str
    directory: str


@pytest.fixture(scope="module")
def ours() -> Iterator[Target]:
    with Cluster(nodes=1, settings={**SETTINGS, "log.dirs": "/logs/data,/logs/more"}) as cluster:
        yield Target(cluster.bootstrap_servers, "/logs")


@pytest.fixture(scope="module")
def theirs() -> Iterator[Target]:
    settings = {**QUICK, **SETTINGS, "log.dirs": "{directory}/data,{directory}/more"}
    with ApacheKafka(nodes=1, settings=settings) as kafka:
        yield Target(kafka.bootstrap_servers, str(kafka.nodes[0].directory))


def printed(programs: Programs, target: Target, program: str, *arguments: str) -> str:
    """Returns what a program prints, without what differs between two clusters."""
    given = [argument.replace("{directory}", target.directory) for argument in arguments]
    text = programs.run(program, "--bootstrap-server", target.bootstrap_servers, *given)
    return MASKED.sub("*", text.replace(target.directory, "{directory}"))


@pytest.mark.parametrize(
    "commands",
    [
        [
            ["describe"],
            ["downgrade", "--feature", "share.version=0"],
            ["describe"],
            ["upgrade", "--feature", "share.version=1"],
            ["describe"],
        ],
        [
            ["upgrade", "--feature", "transaction.version=9"],
            ["downgrade", "--feature", "no.such=1"],
            ["disable", "--feature", "group.version"],
        ],
        [["version-mapping"], ["feature-dependencies", "--feature", "share.version=1"], ["upgrade", "--release-version", "4.3"]],
    ],
    ids=["levels", "refused", "releases"],
)
def test_kafka_features_prints_the_same(programs: Programs, ours: Target, theirs: Target, commands: list[list[str]]) -> None:
    both = [[printed(programs, target, f"{TOOLS}.FeatureCommand", *command) for command in commands] for target in (ours, theirs)]
    assert both[0] == both[1]


def test_kafka_client_metrics_prints_the_same(programs: Programs, ours: Target, theirs: Target) -> None:
    named = ("--name", "producers")
    commands = [
        ["--alter", *named, "--metrics", "org.apache.kafka.producer.", "--interval", "1000", "--match", "client_software_name=none"],
        ["--describe", *named],
        ["--describe"],
        ["--list"],
        ["--alter", *named, "--interval", "1"],
        ["--alter", *named, "--match", "nobody=x"],
        ["--delete", *named],
        ["--list"],
    ]
    both = [[printed(programs, target, f"{TOOLS}.ClientMetricsCommand", *command) for command in commands] for target in (ours, theirs)]
    assert both[0] == both[1]


def test_kafka_configs_of_loggers_prints_the_same(programs: Programs, ours: Target, theirs: Target) -> None:
    logger = ("--entity-type", "broker-loggers", "--entity-name", "1")
    commands = [
        [*logger, "--alter", "--add-config", "kafka.network.SocketServer=DEBUG"],
        [*logger, "--alter", "--delete-config", "kafka.network.SocketServer"],
        [*logger, "--alter", "--add-config", "kafka.network.SocketServer=LOUD"],
    ]
    both = [[printed(programs, target, "kafka.admin.ConfigCommand", *command) for command in commands] for target in (ours, theirs)]
    assert both[0] == both[1]


def test_reassignment_across_log_dirs_prints_the_same(programs: Programs, ours: Target, theirs: Target, tmp_path: Path) -> None:
    results = []
    for number, target in enumerate((ours, theirs)):
        plan = tmp_path / f"plan-{number}.json"
        moved = [
            {"topic": "moved", "partition": index, "replicas": [1], "log_dirs": [f"{target.directory}/{name}"]}
            for index, name in enumerate(("data", "more"))
        ]
        plan.write_text(json.dumps({"version": 1, "partitions": moved}))
        file = ("--reassignment-json-file", str(plan))
        program = f"{TOOLS}.reassign.ReassignPartitionsCommand"
        texts = [printed(programs, target, f"{TOOLS}.TopicCommand", "--create", "--topic", "moved")]
        executed = printed(programs, target, program, *file, "--execute", "--replica-alter-log-dirs-throttle", "1000000")
        texts.append(executed.partition("Save this")[2])  # before that, it prints where Kafka has placed the replicas, in any order
        verified = printed(programs, target, program, *file, "--verify")
        while "in progress" in verified:
            verified = printed(programs, target, program, *file, "--verify")
        described = printed(programs, target, f"{TOOLS}.LogDirsCommand", "--describe", "--topic-list", "moved")
        (brokers,) = json.loads(described.splitlines()[-1])["brokers"]
        placed = {each["logDir"]: [(part["partition"], part["isFuture"]) for part in each["partitions"]] for each in brokers["logDirs"]}
        results.append([*texts, verified, placed])
    assert results[0] == results[1]
    assert results[0][-1] == {"{directory}/data": [("moved-0", False)], "{directory}/more": [("moved-1", False)]}
