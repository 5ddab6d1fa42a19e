"""Calls the administration of groups in several libraries and prints the results.

`python -m tests.clients.administration` records the results with Apache Kafka. Both clusters create the groups by the same requests.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from kafka import TopicPartition as Partition
from kafka.admin import KafkaAdminClient
from kafka.admin._groups import MemberToRemove
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from tests import apache_kafka
from tests.apache_kafka import QUICK, ApacheKafka
from tests.differential.case import Case
from tests.differential.clusters import SETTINGS, ServedCluster
from tests.differential.group_requests import BOTH_OF_ONE, ONE, TOPICS, TWO, ClassicMember, ConsumerMember, commit
from tests.differential.replay import replay

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
GROUPS = ("live", "modern", "offsets", "missing")
PATIENCE_S = 60.0
RANDOM_IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


def make_groups(bootstrap_servers: str) -> None:
    """Creates a classic group with a static member, a consumer group, and a group that only has offsets."""
    live, modern = ClassicMember("live", "s", "i"), ConsumerMember("modern", "m")
    offsets = {ONE.name: {0: 5}, TWO.name: {1: 7}}
    steps = (*live.enter(), live.sync(1, {"$s": BOTH_OF_ONE}), live.commit(1, offsets=offsets), modern.join(), modern.commit(2))
    case = Case("groups", TOPICS, (*steps, commit("offsets", offsets, metadata="note")))
    list(replay(ServedCluster(bootstrap_servers), [case], patience_s=PATIENCE_S))


def confluent(bootstrap_servers: str) -> Iterator[str]:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
    filters: dict[str, dict[str, Any]] = {
        "list": {},
        "list stable": {"states": {ConsumerGroupState.STABLE}},
        "list empty": {"states": {ConsumerGroupState.EMPTY}},
        "list classic": {"types": {ConsumerGroupType.CLASSIC}},
        "list consumer": {"types": {ConsumerGroupType.CONSUMER}},
    }

    def offsets_of(group: str) -> Any:
        found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result()
        return sorted((each.topic, each.partition, each.offset) for each in found.topic_partitions or [])

    def description(group: str) -> Any:
        described = admin.describe_consumer_groups([group])[group].result()
        members = [
            (each.group_instance_id, each.client_id, each.host, sorted(str(part) for part in each.assignment.topic_partitions))
            for each in described.members
        ]
        return str(described.state), str(described.type), described.is_simple_consumer_group, described.partition_assignor, members

    def altered(wanted: ConsumerGroupTopicPartitions) -> Any:
        result = admin.alter_consumer_group_offsets([wanted])[wanted.group_id].result()
        return [(each.topic, each.partition, each.offset, each.error and each.error.name()) for each in result.topic_partitions or []]

    def lists() -> Iterator[str]:
        for name, options in filters.items():
            listed = admin.list_consumer_groups(**options).result().valid
            groups = ((each.group_id, str(each.state), str(each.type), each.is_simple_consumer_group) for each in listed)
            yield f"{name}: {sorted(groups)}"

    yield from lists()
    for group in GROUPS:
        yield _line(f"describe {group}", description, group)
        yield _line(f"offsets {group}", offsets_of, group)
    for group in (*GROUPS[:3], "new"):
        wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(ONE.name, 0, 9)])
        yield _line(f"alter {group}", altered, wanted)
        yield _line(f"offsets {group}", offsets_of, group)
    for group in GROUPS:
        yield _line(f"delete {group}", lambda group: admin.delete_consumer_groups([group])[group].result(), group)
    yield from lists()


def kafka_python(bootstrap_servers: str) -> Iterator[str]:
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers.split(",")) as admin:
        for options in ({}, {"states_filter": ["Stable"]}, {"states_filter": ["empty"]}, {"types_filter": ["consumer"]}):
            yield _line(f"list {options}", lambda options: sorted(map(str, admin.list_groups(**options))), options)
        for group in GROUPS:
            yield _line(f"describe {group}", lambda group: admin.describe_groups([group]), group)
            yield _line(f"offsets {group}", lambda group: sorted(map(str, admin.list_group_offsets({group: None})[group].items())), group)
        first = Partition(ONE.name, 0)
        for group in (*GROUPS[:3], "new"):
            yield _line(f"alter {group}", lambda group: admin.alter_group_offsets(group, {first: OffsetAndMetadata(9, "moved", -1)}), group)
            yield _line(f"delete offsets of {group}", lambda group: admin.delete_group_offsets(group, [first]), group)
        for instance in ("unknown", "i"):
            removed = MemberToRemove(group_instance_id=instance)
            yield _line(f"remove {instance}", lambda removed: admin.remove_group_members("live", [removed]), removed)
        yield _line("delete", lambda groups: sorted(admin.delete_groups(groups).items()), GROUPS)
        yield _line("list", lambda _: sorted(map(str, admin.list_groups())), None)


def java(bootstrap_servers: str) -> Iterator[str]:
    command = apache_kafka.command(str(HERE / "AdminGroups.java"), bootstrap_servers)
    yield from subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def _line(name: str, call: Callable[[Any], Any], argument: Any) -> str:
    try:
        answer = call(argument)
    except KafkaException as error:
        answer = error.args[0].name()
    except KafkaError as error:
        answer = type(error).__name__
    return f"{name}: {answer}"


LIBRARIES = {"confluent": confluent, "kafka-python": kafka_python, "java": java}


def output_of(library: str, bootstrap_servers: str) -> list[str]:
    """Returns the output of a library, without random ids."""
    make_groups(bootstrap_servers)
    return [RANDOM_IDS.sub("*", line) for line in LIBRARIES[library](bootstrap_servers)]


def recorded(library: str) -> list[str]:
    """Returns the recorded output of a library with Apache Kafka."""
    return (RECORDED / f"administration-{library}.txt").read_text().splitlines()


if __name__ == "__main__":
    RECORDED.mkdir(exist_ok=True)
    for each in sys.argv[1:] or LIBRARIES:
        with ApacheKafka(nodes=2, settings=QUICK | SETTINGS) as kafka:
            (RECORDED / f"administration-{each}.txt").write_text("".join(f"{line}\n" for line in output_of(each, kafka.bootstrap_servers)))
