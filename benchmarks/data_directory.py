"""The measures of data directories: what keeping data costs beside memory, and how long starts with much data take."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from odradek import Cluster
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.storage.directories.index_files import new_offset_index, new_time_index, offset_index_bytes, time_index_bytes

from .brokers import KAFKA, KFAKE, ODRADEK, Broker, Start, kafka, kfake, kfake_keeping_data, start_process
from .bulk import claim_memory
from .librdkafka import BulkProducer
from .pipeline import Pipeline, batch
from .rows import Figures, Measure, Row, Target
from .topics import new_topic

GIB = 1 << 30
SERVE = [str(Path(sys.executable).with_name("odradek")), "serve", "--nodes", "1", "--port", "0"]
ROUNDS = 5
MESSAGES, MESSAGE_BYTES = 150_000, 1024
REQUESTS = 8000
RECOVERED, RECOVERED_BATCH_BYTES = GIB, 200
IMPORTED, IMPORTED_BATCH_BYTES = 10 * GIB, 1 << 20


@contextmanager
def in_memory() -> Iterator[Broker]:
    """Runs odradek without a data directory."""
    with start_process(ODRADEK, SERVE, in_memory) as broker:
        yield broker


@contextmanager
def keeping_data() -> Iterator[Broker]:
    """Runs odradek with a new data directory."""
    with tempfile.TemporaryDirectory() as folder, start_process(ODRADEK, [*SERVE, "--data-dir", f"{folder}/data"], keeping_data) as broker:
        yield broker


STARTS: Mapping[str, Sequence[Start]] = {
    ODRADEK: (keeping_data, in_memory),
    KAFKA: (kafka,),
    KFAKE: (kfake_keeping_data, kfake),
}
"""Each broker with a data directory and, if it can, without one."""


def produce(broker: Broker) -> Figures:
    """Measures the rate of bulk Produce with a data directory, and relative to memory. Both are measured in turns."""
    kept, *memory = (max(rates) for rates in zip(*(map(_rate, STARTS[broker.name]) for _ in range(ROUNDS)), strict=True))
    figures = {"produce 1 KiB with --data-dir": kept}
    if memory:
        figures["produce 1 KiB, --data-dir / memory"] = kept / memory[0]
    return figures


def _rate(start: Start) -> float:
    claim_memory(3 * MESSAGES * MESSAGE_BYTES // 2)
    with start() as broker, new_topic(broker) as topic, BulkProducer(broker.bootstrap_servers, topic, MESSAGE_BYTES) as producer:
        return MESSAGES * MESSAGE_BYTES / 1e6 / producer.send(MESSAGES)


def small_requests(broker: Broker) -> Figures:
    """Measures the CPU time of a small Produce with a data directory, and how much of it the directory adds."""
    starts = STARTS[broker.name]
    spent: list[list[float]] = [[] for _ in starts]
    with ExitStack() as stack:
        brokers = [stack.enter_context(start()) for start in starts]
        topics = [stack.enter_context(new_topic(broker)) for broker in brokers]
        pipelines = [
            stack.enter_context(Pipeline(broker.address, topic, batch(1, 100))) for broker, topic in zip(brokers, topics, strict=True)
        ]
        for _round in range(2 * ROUNDS):
            for figures, each, pipeline in zip(spent, brokers, pipelines, strict=True):
                cpu_s = each.cpu_s()
                count = pipeline.run(REQUESTS)
                figures.append((each.cpu_s() - cpu_s) / count * 1e6)
    kept, *memory = map(min, spent)
    result = {"small requests with --data-dir: CPU": kept}
    if memory:
        result["small requests with --data-dir: CPU added"] = kept - memory[0]
    return result


def recovery(_: Broker) -> Figures:
    """Measures a start with a data directory of 1 GiB after a crash."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "benchmarks.data_directory", folder], check=True)
        with start_process(ODRADEK, [*SERVE, "--data-dir", f"{folder}/data"], keeping_data) as broker:
            return {"recovery of 1 GiB in batches of 200 bytes": broker.start_s}


def leave_data(folder: Path) -> None:
    """Writes a data directory of batches of 200 bytes, and ends as a process that is killed."""
    record = batch(1, RECOVERED_BATCH_BYTES - len(batch(1, 0)))
    with Cluster(nodes=1, topics={"large": 1}, data_dir=folder / "data", record_bytes=0, record_exchanges=0) as cluster:
        server = cluster._embedded.server

        async def append() -> None:
            log = server.cluster.topics["large"].partitions[0].log
            while log.size < RECOVERED:
                with server.turn("appending"):
                    for _ in range(5000):
                        log.append(memoryview(record), 0, owned=False)
                await asyncio.sleep(0)  # for checkpoints

        cluster._run_in_thread(append())
        os._exit(0)


def imported(_: Broker) -> Figures:
    """Measures a start with the log directory of a stopped broker with 10 GiB, whose files have holes in place of values."""
    with tempfile.TemporaryDirectory() as folder:
        with Cluster(nodes=1, topics={"large": 1}) as cluster:
            cluster.export_log_dirs(Path(folder, "kafka"))
        directory = Path(folder, "kafka", "node-1", "data")
        write_sparse_segments(directory / "large-0")
        with start_process(ODRADEK, [*SERVE[:2], "--port", "0", "--from-log-dir", str(directory)], in_memory) as broker:
            return {"import of 10 GiB": broker.start_s, "import of 10 GiB: memory": broker.resident_bytes() / 2**20}


def write_sparse_segments(folder: Path) -> None:
    """Writes segments of 1 GiB with batches of 1 MiB, whose values are zeros, which take no room on the disk."""
    shutil.rmtree(folder)
    folder.mkdir()
    empty = len(build_batch([Record(0, 1_700_000_000_000, None, bytes(1 << 17), [])])) - (1 << 17)
    whole = bytes(build_batch([Record(0, 1_700_000_000_000, None, bytes(IMPORTED_BATCH_BYTES - empty - 3), [])]))
    head = whole[:100]
    assert not any(whole[100:]), "the rest of the batch is zeros"
    per_segment = GIB // len(whole)
    for base in range(0, IMPORTED // len(whole), per_segment):
        offsets, times = new_offset_index(), new_time_index()
        with (folder / f"{base:020d}.log").open("wb") as file:
            for number in range(per_segment):
                file.seek(number * len(whole))
                file.write((base + number).to_bytes(8, "big") + head[8:])
                if number:
                    offsets.offsets.append(base + number)
                    offsets.positions.append(number * len(whole))
            file.truncate(per_segment * len(whole))
        times.timestamps.append(1_700_000_000_000)
        times.offsets.append(base)
        (folder / f"{base:020d}.index").write_bytes(offset_index_bytes(offsets, base))
        (folder / f"{base:020d}.timeindex").write_bytes(time_index_bytes(times, base))


MEASURES = (
    Measure(
        (
            Row("produce 1 KiB with --data-dir", "MB/s"),
            Row("produce 1 KiB, --data-dir / memory", "", (Target(0.7, at_least=True),)),
        ),
        produce,
        (*STARTS,),
    ),
    Measure(
        (Row("small requests with --data-dir: CPU", "us"), Row("small requests with --data-dir: CPU added", "us", (Target(1.5),))),
        small_requests,
        (*STARTS,),
    ),
    Measure((Row("recovery of 1 GiB in batches of 200 bytes", "s", (Target(1),)),), recovery, (ODRADEK,)),
    Measure((Row("import of 10 GiB", "s", (Target(1),)), Row("import of 10 GiB: memory", "MiB", (Target(200),))), imported, (ODRADEK,)),
)

if __name__ == "__main__":
    leave_data(Path(sys.argv[1]))
