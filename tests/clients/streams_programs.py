"""Runs kafka-streams-groups over groups in several states, and returns what it prints.

`python -m tests.clients.streams_programs` records the output with Apache Kafka. Both clusters create the groups by the same requests.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.apache_kafka import QUICK, ApacheKafka
from tests.clients.kafka_programs import Programs
from tests.differential.case import Case
from tests.differential.clusters import SETTINGS, ServedCluster
from tests.differential.families import streams_groups
from tests.differential.replay import replay
from tests.differential.streams_requests import CREATED, ONE, TOPICS, StreamsMember, counting, part, topology

RECORDED = Path(__file__).parent / "recorded" / "streams-programs.txt"
PROGRAM = "org.apache.kafka.tools.streams.StreamsGroupCommand"
CLUSTER = QUICK | SETTINGS | streams_groups.SETTINGS
PATIENCE_S = 60.0
_LEFT_OUT = re.compile(r"^\[\d{4}-.*\n|^\s*at .*\n| Valid states are: .*$", re.MULTILINE)
"""Entries of the log, stack traces, and the states, whose order is random."""
_ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
_USAGE = "Option    "
"""The beginning of the list of options, which the program prints after an error."""
COMMANDS = (
    "--list",
    "--list --state",
    "--list --state stable",
    "--list --state NotReady,Empty",
    "--list --state nonsense",
    "--describe --group stable",
    "--describe --group stable --verbose",
    "--describe --group stable --members",
    "--describe --group stable --members --verbose",
    "--describe --group stable --state",
    "--describe --group stable --state --verbose",
    "--describe --group stable --offsets",
    "--describe --group stable --offsets --verbose",
    "--describe --group counting",
    "--describe --group counting --members",
    "--describe --group waiting --state",
    "--describe --group waiting --members",
    "--describe --group emptied",
    "--describe --group emptied --members",
    "--describe --group missing",
    "--describe --all-groups --state",
    "--reset-offsets --group stable --to-earliest --input-topic streams-one --dry-run",
    "--reset-offsets --group emptied --to-offset 1 --input-topic streams-one --dry-run",
    "--reset-offsets --group emptied --to-offset 1 --input-topic streams-one --execute",
    "--reset-offsets --group emptied --to-earliest --all-input-topics --execute",
    "--reset-offsets --group emptied --shift-by 1 --input-topic streams-one:0 --execute",
    "--reset-offsets --group emptied --to-current --input-topic streams-one --dry-run",
    "--describe --group emptied --offsets",
    "--delete-offsets --group emptied --input-topic streams-one:0",
    "--delete-offsets --group emptied --input-topic streams-one",
    "--delete-offsets --group stable --input-topic streams-one",
    "--delete-offsets --group missing --input-topic streams-one",
    "--describe --group emptied --offsets",
    "--delete --group stable",
    "--delete --group emptied",
    "--delete --group missing",
    "--delete --all-groups",
    "--list",
)


def make_groups(bootstrap_servers: str) -> None:
    """Creates a stable group, one with internal topics, one whose source topic is missing, and an empty one with offsets."""
    stable, counts, waiting, emptied = (StreamsMember(group, "m") for group in ("stable", "counting", "waiting", "emptied"))
    steps = (
        *(stable.join(), stable.beat(2), stable.commit(2, {ONE.name: {0: 0}})),
        *(counts.join(counting("counting")), CREATED, counts.beat(2), counts.beat(3)),
        waiting.join(topology(part("0", "nowhere"))),
        *(emptied.join(), emptied.commit(2, {ONE.name: {0: 0, 1: 0}}), emptied.leave()),
    )
    list(replay(ServedCluster(bootstrap_servers), [Case("groups", TOPICS, steps)], patience_s=PATIENCE_S))


def outputs(bootstrap_servers: str, programs: Programs) -> str:
    """Returns the commands with what the program prints, without its log and its options."""
    make_groups(bootstrap_servers)
    shown = []
    for command in COMMANDS:
        printed = programs.run(PROGRAM, "--bootstrap-server", bootstrap_servers, *command.split())
        printed = _ADDRESS.sub("*", _LEFT_OUT.sub("", printed)).partition(_USAGE)[0]
        shown.append(f"$ {command}\n" + "".join(f"{line.rstrip()}\n" for line in printed.splitlines() if line.strip()))
    return "\n".join(shown)


if __name__ == "__main__":
    with ApacheKafka(nodes=2, settings=CLUSTER) as kafka:
        kafka_programs = Programs()
        RECORDED.write_text(outputs(kafka.bootstrap_servers, kafka_programs))
        kafka_programs.close()
