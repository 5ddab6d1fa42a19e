"""Kafka's program kafka-share-groups prints the same with odradek as with Apache Kafka."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from odradek import Cluster
from tests.apache_kafka import QUICK, ApacheKafka
from tests.clients.kafka_programs import Programs
from tests.differential.case import Case, Pause, Topic
from tests.differential.clusters import ServedCluster
from tests.differential.replay import replay
from tests.differential.requests import batch_of, produce
from tests.differential.share_group_requests import SETTINGS, SETTLE, ShareMember, alter_share

pytestmark = [pytest.mark.sockets, pytest.mark.clients, pytest.mark.apache_kafka, pytest.mark.slow]

PROGRAM = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
READ, OTHER = Topic("read", {}, ((1,), (1,))), Topic("other", {}, ((1,),))
COORDINATOR = re.compile(r"127\.0\.0\.1:\d+ +\(1\)")
PATIENCE_S = 30.0


def make_groups(bootstrap_servers: str) -> None:
    """Creates a group with a member, an empty one, and one of which only the offsets are known, beside records to read."""
    m, n = ShareMember("live", "m"), ShareMember("emptied", "n")
    records = [produce(READ.name, batch_of(b"a", b"b", b"c")), produce(OTHER.name, batch_of(b"a"))]
    live = (m.join(READ.name), Pause(3000), m.join(READ.name), m.join(READ.name))
    emptied = (n.join(READ.name, OTHER.name), SETTLE, n.beat(2), n.leave())
    altered = alter_share("altered", {READ.name: {0: 1, 1: 0}}), SETTLE
    case = Case("groups", (READ, OTHER), (*records, *live, *emptied, *altered))
    list(replay(ServedCluster(bootstrap_servers), [case], patience_s=PATIENCE_S))


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    with Cluster(nodes=1, settings=SETTINGS) as cluster:
        make_groups(cluster.bootstrap_servers)
        yield cluster.bootstrap_servers


@pytest.fixture(scope="module")
def theirs() -> Iterator[str]:
    with ApacheKafka(nodes=1, settings={**QUICK, **SETTINGS}) as kafka:
        make_groups(kafka.bootstrap_servers)
        yield kafka.bootstrap_servers


COMMANDS = [
    "--list",
    "--list --state",
    "--list --state empty",
    "--list --state nonsense",
    *(f"--describe --group {group} {what}" for group in ("live", "emptied", "altered", "missing") for what in ("", "--members", "--state")),
    *(f"--describe --group {group} --verbose {what}" for group in ("live", "emptied") for what in ("--offsets", "--members", "--state")),
    "--describe --all-groups --state",
    "--reset-offsets --group live --topic read --to-earliest --execute",
    "--reset-offsets --group emptied --topic read --to-earliest --dry-run",
    "--reset-offsets --group emptied --topic read --to-earliest --execute",
    "--describe --group emptied",
    "--reset-offsets --group emptied --topic read:1 --to-latest --execute",
    "--reset-offsets --group emptied --all-topics --to-latest --execute",
    "--describe --group emptied --verbose",
    "--reset-offsets --group missing --topic read --to-datetime 2020-01-01T00:00:00.000 --execute",
    "--reset-offsets --group emptied --topic nowhere --to-earliest --execute",
    "--delete-offsets --group live --topic read",
    "--delete-offsets --group emptied --topic read",
    "--delete-offsets --group emptied --topic read",
    "--delete-offsets --group emptied --topic nowhere",
    "--delete-offsets --group nothing --topic read",
    "--describe --group emptied",
    "--delete --group live",
    "--delete --group emptied",
    "--delete --group emptied",
    "--delete --group altered --group missing",
    "--list",
]


def printed(programs: Programs, bootstrap_servers: str, command: str) -> list[str]:
    """Returns the printed lines, sorted because the programs list groups and partitions in the order of hash tables."""
    text = programs.run(PROGRAM, "--bootstrap-server", bootstrap_servers, *command.split())
    return sorted(" ".join(line.split()) for line in COORDINATOR.sub("coordinator", text).splitlines())


def test_kafka_share_groups_prints_the_same(programs: Programs, ours: str, theirs: str) -> None:
    for command in COMMANDS:
        assert printed(programs, ours, command) == printed(programs, theirs, command), command
