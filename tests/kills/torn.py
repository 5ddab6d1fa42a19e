"""Compares what odradek and Apache Kafka serve from the same torn directories: `make torn DIRECTORIES=50 SEED=1`.

A data directory is copied while clients write to a cluster, as a kill leaves it. In each copy, the ends of some logs are torn as a power
loss may leave them. Both brokers recover a copy of their own, and clients compare topics, records, transactions and committed offsets.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from confluent_kafka import Producer

from odradek import Cluster
from odradek.broker.client.cluster_client import ClusterClient
from odradek.protocol.messages.list_transactions import LIST_TRANSACTIONS, ListTransactionsRequest
from tests.broker.directories.exported_kafka import PATIENCE_S, KafkaEnded, exported_kafka, properties_of, wait_for_leaders
from tests.long_run import exit_code_of
from tests.storage.directories import recording
from tests.waiting import until

TOPICS: dict[str, Any] = {"orders": 2, "payments": 2, "large": {"partitions": 2, "configs": {"segment.bytes": str(1 << 20)}}}
NAMES = ["orders", "payments", "large", "transfers"]
SETTINGS: dict[str, Any] = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "log.retention.ms": -1,  # because the records are years old
    "transaction.max.timeout.ms": 10**8,
}
TIMEOUT_MS = 3_600_000
"""The timeout of transactions, which is long enough for all comparisons, because a tear may open a transaction again."""
TORN_PART = 0.6
"""The part of the partitions whose logs are torn in each directory."""
TAIL_BYTES = 400
WHOLE = "__cluster_metadata-0"
"""The log that is not torn, because it says which other ones there are."""
DIRECTORIES_OF_A_LOAD = 10
MAX_REFUSED = 5
"""The number of copies on which Apache Kafka may end at its start, beside half of those that are compared. About a tenth are usual."""


def compare(directories: int, seed: int, folder: Path) -> list[str]:
    """Returns the differences between both brokers on so many torn directories.

    Directories on which Apache Kafka ends at its start are not counted, because it serves nothing of them. It does so if zeros follow the
    batches of a segment that is not the last one, or if the base offset of a batch, which no checksum covers, is far from the others.
    """
    random, differences, refused = Random(seed), [], 0
    for number, torn, properties in copies(folder, random):
        tears = [tear(log, random) for log in logs_of(torn) if random.random() < TORN_PART]
        try:
            found = list(differences_on(torn, properties))
        except KafkaEnded as ended:
            refused += 1
            print(f"copy {number}: {len(tears)} logs torn, Apache Kafka does not start: {ended}", flush=True)  # noqa: T201
            assert refused <= MAX_REFUSED + directories // 2, "Apache Kafka does not start on too many directories"
        else:
            print(f"copy {number}: {len(tears)} logs torn, {len(found)} differences", flush=True)  # noqa: T201
            differences += [f"copy {number}: {each}; {tears}" for each in found]
        shutil.rmtree(torn)
        if number + 1 - refused == directories:
            break
    return differences


def copies(folder: Path, random: Random) -> Iterator[tuple[int, Path, str]]:
    """Yields copies of killed data directories without end: a number, the copy, and the server.properties of Apache Kafka."""
    for number in count():
        if number % DIRECTORIES_OF_A_LOAD == 0:
            killed, properties = killed_directory(folder / f"load-{number}", random)
        torn = folder / f"torn-{number}"
        shutil.copytree(killed, torn)
        yield number, torn, properties


def killed_directory(folder: Path, random: Random) -> tuple[Path, str]:
    """Returns a data directory as a kill leaves it, and the server.properties with which Apache Kafka starts on it."""
    with Cluster(nodes=1, settings=SETTINGS, topics=TOPICS, data_dir=folder / "data") as cluster:
        for topic in ("orders", "payments"):
            recording.fill(cluster.bootstrap_servers, topic)
        fill_segments(cluster.bootstrap_servers, random)
        recording.run_transactions(cluster.bootstrap_servers, TIMEOUT_MS)
        recording.commit_offsets(cluster.bootstrap_servers)
        unfinished = begin_transaction(cluster.bootstrap_servers)
        (node,) = cluster.export_log_dirs(folder / "export")
        shutil.copytree(folder / "data", folder / "killed")
        unfinished.abort_transaction()
    return folder / "killed", properties_of(node.command).read_text()


def fill_segments(servers: str, random: Random) -> None:
    """Produces several segments of batches of all sizes."""
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 1, "batch.size": 50_000})
    for number in range(300):
        value = str(number) * random.choice([1, 100, 4000, 8000])
        producer.produce("large", value, partition=number % 2, timestamp=1_700_000_000_000 + number)
        producer.poll(0)
    assert producer.flush(60) == 0


def begin_transaction(servers: str) -> Producer:
    """Returns the producer of an open transaction."""
    options = {"bootstrap.servers": servers, "transactional.id": "unfinished", "transaction.timeout.ms": TIMEOUT_MS}
    producer = Producer(options)
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("transfers", b"open", partition=0, timestamp=1_700_000_000_000)
    assert producer.flush(60) == 0
    return producer


def logs_of(directory: Path) -> list[list[Path]]:
    """Returns the segments of each partition that has batches, in order, without the log of the metadata."""
    folders = sorted(path for path in directory.iterdir() if path.is_dir() and path.name != WHOLE)
    logs = [sorted(folder.glob("*.log")) for folder in folders]
    return [log for log in logs if any(path.stat().st_size for path in log)]


def tear(log: list[Path], random: Random) -> str:
    """Damages a log, most often at its end, and returns what was done."""
    path = random.choice([*log, *[log[-1]] * 4])
    content = bytearray(path.read_bytes())
    how = random.choice(["cut", "cut", "cut", "zeros", "garbage", "flip"])
    at = random.randrange(max(0, len(content) - TAIL_BYTES), len(content) or 1) if how != "flip" else random.randrange(len(content) or 1)
    if how == "zeros":
        content += bytes(random.randint(1, TAIL_BYTES))
    elif how == "flip" and content:
        content[at] ^= 1 << random.randrange(8)
    elif how != "flip":
        content[at:] = b"" if how == "cut" else random.randbytes(len(content) - at)
    path.write_bytes(content)
    return f"{how} {path.parent.name}/{path.name} at {at}"


def differences_on(torn: Path, properties: str) -> Iterator[str]:
    """Yields the differences between what both brokers serve from copies of a directory."""
    for broker in ("ours", "kafka"):
        shutil.copytree(torn, torn / broker, ignore=lambda _, names: [name for name in names if name in ("ours", "kafka")])
    with Cluster(nodes=1, settings=SETTINGS, data_dir=torn / "ours") as cluster:
        ours = recording.describe(cluster.bootstrap_servers, NAMES)
    with kafka_on(torn / "kafka", torn, properties) as servers:
        wait_for_leaders(servers, NAMES)
        wait_for_markers(servers)
        theirs = recording.describe(servers, NAMES)
    for name in NAMES:
        for view in ("configs", "committed", "all"):
            if ours["topics"][name][view] != theirs["topics"][name][view]:
                yield f"{name} {view}: {ours['topics'][name][view][-3:]}, Apache Kafka: {theirs['topics'][name][view][-3:]}"
    if ours["offsets"] != theirs["offsets"]:
        yield f"offsets: {ours['offsets']}, Apache Kafka: {theirs['offsets']}"


@contextmanager
def kafka_on(directory: Path, folder: Path, properties: str) -> Iterator[str]:
    """Provides the bootstrap servers of Apache Kafka on a log directory."""
    file = folder / "server.properties"
    file.write_text(re.sub("(?m)^log.dirs=.*$", f"log.dirs={directory}", properties))
    with exported_kafka([f"kafka-server-start.sh '{file}'"]) as servers:
        yield servers


def wait_for_markers(servers: str) -> None:
    """Returns when no transaction is prepared, because a coordinator writes the markers of those that it finds after its start."""
    host, _, port = servers.partition(":")
    request = ListTransactionsRequest(state_filters=["PrepareCommit", "PrepareAbort"], producer_id_filters=[])
    with ClusterClient([(host, int(port))]) as client:
        until(lambda: (found := client.any(LIST_TRANSACTIONS, request)).error_code == 0 and not found.transaction_states, PATIENCE_S)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("tests.kills.torn")
    parser.add_argument("--directories", type=int, default=50)
    parser.add_argument("--seed", type=int, default=SystemRandom().getrandbits(32))
    options = parser.parse_args(argv)
    print(f"{options.directories} directories, seed {options.seed}", flush=True)  # noqa: T201
    folder = Path(tempfile.mkdtemp(prefix="odradek-torn-"))
    return exit_code_of(compare(options.directories, options.seed, folder), options.seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
