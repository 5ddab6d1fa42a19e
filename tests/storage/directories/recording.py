"""Records log directories of Apache Kafka, with what clients read from them, as test data.

`python -m tests.storage.directories.recording` runs brokers of three releases and writes `recorded/NAME.tar.gz` with the files of the log
directory, and `recorded/NAME.json` with the records, offsets, settings and ids that clients and the broker's tools have seen.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ConfigResource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.apache_kafka import QUICK, VERSION, ApacheKafka

RECORDED = Path(__file__).parent / "recorded"
SMALL = {**QUICK, "log.index.size.max.bytes": "4096", "log.flush.offset.checkpoint.interval.ms": "500", "group.coordinator.threads": "1"}
LEFT_OUT = (".lock", "kraft-combined-meta.properties")


class Recording(NamedTuple):
    """A directory to record: the release, whether the broker is killed, and the settings of topics that are filled."""

    name: str
    version: str
    killed: bool
    topics: Mapping[str, Mapping[str, str]]
    has_accounts: bool = False


PLAIN = {"orders": {"retention.ms": "-1", "segment.bytes": "1048576"}, "payments": {"cleanup.policy": "compact"}}
OLD = {"format-0": {"message.format.version": "0.9.0"}, "format-1": {"message.format.version": "0.10.2"}}
RECORDINGS = [
    Recording("kafka-4.3.1", VERSION, killed=False, topics=PLAIN, has_accounts=True),
    Recording("kafka-4.3.1-killed", VERSION, killed=True, topics=PLAIN),
    Recording("kafka-3.9.1", "3.9.1", killed=False, topics=PLAIN),
    Recording("kafka-2.8.2", "2.8.2", killed=False, topics={**PLAIN, **OLD}),
]


def record(recording: Recording) -> None:
    """Runs one broker and writes its directory and what clients have seen."""
    accounts = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS"}
    with ApacheKafka(settings={**SMALL, **(accounts if recording.has_accounts else {})}, version=recording.version) as kafka:
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
        topics = [NewTopic(name, num_partitions=2, replication_factor=1, config=dict(config)) for name, config in recording.topics.items()]
        for created in admin.create_topics(topics).values():
            created.result()
        for name in recording.topics:
            fill(kafka.bootstrap_servers, name)
        run_transactions(kafka.bootstrap_servers)
        commit_offsets(kafka.bootstrap_servers)
        if recording.has_accounts:
            create_accounts(admin)
        if recording.killed:
            leave_open(kafka.bootstrap_servers)
        seen = describe(kafka.bootstrap_servers, [*recording.topics, "transfers"])
        checkpoint = kafka.nodes[0].directory / "data" / "replication-offset-checkpoint"
        while not all(f"{name} 0 20" in checkpoint.read_text() for name in PLAIN):
            pass  # until the high watermarks have been written
        (kafka.nodes[0].kill if recording.killed else kafka.nodes[0].shut_down)()
        pack(kafka.nodes[0].directory / "data", recording.name)
    (RECORDED / f"{recording.name}.json").write_text(json.dumps(seen, indent=1) + "\n")


def fill(servers: str, topic: str) -> None:
    """Produces 40 records, in batches of several codecs."""
    for codec in ("none", "gzip", "lz4", "snappy") if not topic.startswith("format") else ("none", "gzip"):
        producer = Producer({"bootstrap.servers": servers, "compression.type": codec, "linger.ms": 50, "acks": "all"})
        for number in range(10):
            key = None if number == 7 else f"key-{number}".encode()
            producer.produce(topic, f"{codec} {number}".encode(), key, partition=number % 2, timestamp=1_700_000_000_000 + number)
        producer.flush()


def run_transactions(servers: str, timeout_ms: int = 60_000) -> None:
    """Produces committed and aborted records to `transfers`. `timeout_ms` is that of the transactions."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic("transfers", 1, 1)])["transfers"].result()
    transactional = {"transactional.id": "transferring", "transaction.timeout.ms": timeout_ms}
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 5, **transactional})
    producer.init_transactions()
    for number, end in enumerate(["commit", "abort", "commit"]):
        producer.begin_transaction()
        for part in range(3):
            producer.produce("transfers", f"{end} {number} {part}".encode(), partition=0, timestamp=1_700_000_000_000)
        producer.flush()
        (producer.commit_transaction if end == "commit" else producer.abort_transaction)()


def leave_open(servers: str) -> None:
    """Begins a transaction and leaves it open."""
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "unfinished", "linger.ms": 5})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("transfers", b"open", partition=0, timestamp=1_700_000_000_000)
    producer.flush()


def commit_offsets(servers: str) -> None:
    """Commits offsets of the groups `readers`, which joins, and `simple`, which does not."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "readers", "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe(["orders"])
    seen = 0
    while seen < 40:
        seen += len(consumer.consume(40, 5))
    consumer.commit(offsets=[TopicPartition("orders", 0, 11, metadata="half"), TopicPartition("orders", 1, 20)], asynchronous=False)
    consumer.close()
    simple = Consumer({"bootstrap.servers": servers, "group.id": "simple"})
    simple.commit(offsets=[TopicPartition("payments", 0, 3)], asynchronous=False)
    simple.close()


def create_accounts(admin: AdminClient) -> None:
    """Creates a user and an ACL."""
    credential = UserScramCredentialUpsertion("alice", ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), b"secret", b"salt")
    for altered in admin.alter_user_scram_credentials([credential]).values():
        altered.result()
    resource = (ResourceType.TOPIC, "orders", ResourcePatternType.LITERAL)
    for made in admin.create_acls([AclBinding(*resource, "User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW)]).values():
        made.result()


def describe(servers: str, topics: list[str]) -> dict[str, Any]:
    """Returns what clients see of a cluster: topics with settings and records, and groups with offsets."""
    admin = AdminClient({"bootstrap.servers": servers})
    resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in topics]
    settings = {resource.name: found.result() for resource, found in admin.describe_configs(resources).items()}
    return {
        "topics": {
            name: {
                "configs": {each.name: each.value for each in settings[name].values() if each.source == 1},
                "committed": read(servers, name, "read_committed"),
                "all": read(servers, name, "read_uncommitted"),
            }
            for name in topics
        },
        "offsets": {group: offsets(servers, group, topics) for group in ("readers", "simple")},
    }


def read(servers: str, topic: str, isolation: str) -> list[list[Any]]:
    """Returns [partition, offset, timestamp, key, value] of all records, and of each partition [partition, end offset]."""
    options = {"bootstrap.servers": servers, "group.id": "describing", "isolation.level": isolation, "enable.partition.eof": True}
    consumer = Consumer(options | {"fetch.wait.max.ms": 10})  # because the end of a partition is found by waiting
    partitions = sorted(consumer.list_topics(topic).topics[topic].partitions)
    found: list[list[Any]] = []
    for index in partitions:
        begin, end = consumer.get_watermark_offsets(TopicPartition(topic, index))
        consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING)])
        while (message := _polled(consumer)) is not None:
            key, value = message.key(), message.value()
            found.append([index, message.offset(), message.timestamp()[1], key and key.decode(), value and value.decode()])
        found.append([index, begin, end])
    consumer.close()
    return found


def _polled(consumer: Consumer) -> Message | None:
    """Returns the next message, None at the end of the partition. Raises TimeoutError and KafkaException."""
    message = consumer.poll(60)
    if message is None:
        raise TimeoutError("no message and no end of the partition in 60 s")
    if (error := message.error()) is None:
        return message
    if error.code() != KafkaError._PARTITION_EOF:
        raise KafkaException(error)
    return None


def offsets(servers: str, group: str, topics: list[str]) -> list[list[Any]]:
    """Returns [topic, partition, offset, metadata] of the commits of a group."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    slots = [TopicPartition(topic, index) for topic in topics for index in range(2) if topic != "transfers"]
    committed = [[each.topic, each.partition, each.offset, each.metadata or ""] for each in consumer.committed(slots) if each.offset >= 0]
    consumer.close()
    return committed


def pack(directory: Path, name: str) -> None:
    """Writes the files of a log directory to an archive that is the same for the same files."""
    shutil.rmtree(directory / "lost+found", ignore_errors=True)

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
        return None if Path(info.name).name in LEFT_OUT else info

    with tarfile.open(RECORDED / f"{name}.tar.gz", "w:gz", compresslevel=9) as archive:
        archive.add(directory, ".", filter=plain)


def main(run: Callable[[Recording], None] = record) -> None:
    RECORDED.mkdir(exist_ok=True)
    for recording in RECORDINGS:
        run(recording)


if __name__ == "__main__":
    main()
