"""Writes a cluster as log directories, on which Apache Kafka starts: one folder per node, with a `server.properties`.

`collect` takes the state at one moment, without a copy of the logs. `write_folders` writes it, and needs nothing of the cluster, so that it
may run in a thread. All files are those of a broker that has stopped in order. Kafka therefore trusts the indexes and starts fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ...storage.directories import names
from ...storage.directories.index_files import offset_index_bytes, time_index_bytes, transaction_index_bytes
from ...storage.directories.metadata_log import snapshot_bytes
from ...storage.directories.names import PartitionName
from ...storage.directories.producer_snapshot import NO_OFFSET, ProducerEntry, producer_snapshot_bytes
from ...storage.directories.segment_files import Entry, IndexBuilder, read_entry
from ...storage.directories.text_files import EpochStart, MetaProperties, epochs_text, meta_properties_text, offsets_text, topic_id_text
from ...storage.producers import Producers
from ...storage.segments import EXTENT, split
from ...storage.transaction_index import EndedTransaction
from ..cluster.state import ClusterState
from ..snapshots.topics import PRODUCERS
from ..topics.partition import Partition
from .metadata import ID_BYTES, metadata_records
from .server_properties import server_properties

LOG_FOLDER, PROPERTIES_FILE = "data", "server.properties"
NO_BROKER_EPOCH = '{"version":0,"brokerEpoch":-1}'


class SegmentParts(NamedTuple):
    """The batches of one segment file."""

    base_offset: int
    slices: list[memoryview]


class Replica(NamedTuple):
    """The log of a partition on one node."""

    name: PartitionName
    topic_id: bytes
    segments: list[SegmentParts]
    start_offset: int
    end_offset: int
    high_watermark: int
    epochs: list[EpochStart]
    producers: list[ProducerEntry]
    aborted: list[EndedTransaction]


class NodeFolder(NamedTuple):
    """The contents of the folder of one node. `metadata` is the contents of `bootstrap.checkpoint`, None except for the controller."""

    meta: MetaProperties
    settings: Mapping[str, str]
    replicas: list[Replica]
    metadata: bytes | None


def collect(cluster: ClusterState) -> list[NodeFolder]:
    """Returns the state of a cluster. It shares the memory of the logs and does not change afterwards."""
    directory_ids = {node_id: b"\1" + cluster.random.randbytes(ID_BYTES - 1) for node_id in cluster.brokers}
    first_id = next(iter(cluster.brokers))
    metadata = snapshot_bytes(metadata_records(cluster, directory_ids), cluster.timers.now_ms)
    return [
        NodeFolder(
            MetaProperties(node_id, cluster.cluster_id, directory_ids[node_id]),
            server_properties(cluster, node_id),
            [_replica(partition, node_id) for partition in cluster.topics.partitions() if node_id in partition.replicas],
            metadata if node_id == first_id else None,
        )
        for node_id in cluster.brokers
    ]


def _replica(partition: Partition, node_id: int) -> Replica:
    log, end_offset = partition.log, partition.position(node_id)
    producers = partition.producers
    if end_offset < log.end_offset:
        producers = PRODUCERS.read(PRODUCERS.write(producers), 0)
        producers.truncate_to(end_offset)
    return Replica(
        PartitionName(partition.topic.name, partition.index),
        partition.topic.id,
        list(_segments(partition, end_offset)),
        log.start_offset,
        end_offset,
        min(partition.high_watermark, end_offset),
        [EpochStart(epoch, offset) for epoch, offset in log.epochs if offset < end_offset or offset == log.start_offset],
        list(producer_entries(producers)),
        [aborted for aborted in producers.aborted(log.start_offset, end_offset) if aborted.last_offset < end_offset],
    )


def _segments(partition: Partition, end_offset: int) -> Iterator[SegmentParts]:
    """Yields the segments of a replica. A replica without records has an empty one."""
    log, integers = partition.log, partition.topic.config.integers
    first = log.start_offset
    for base_offset, following in partition.virtual_segments.of_log(log, integers["segment.bytes"], integers["segment.ms"]):
        slices = log.read(max(base_offset, first), log.size, min(following, end_offset), at_least_one=False)
        if slices:
            # The start offset may be within a batch, whose base offset names the file.
            yield SegmentParts(EXTENT.unpack_from(slices[0])[0] if base_offset <= first else base_offset, slices)
    if first >= end_offset:
        yield SegmentParts(end_offset, [])


def producer_entries(producers: Producers) -> Iterator[ProducerEntry]:
    """Yields the producers of a partition as its snapshot contains them."""
    for producer_id, state in producers:
        epoch_and_times = (state.timestamp, state.coordinator_epoch, producers.open_since(producer_id))
        last = state.last_batch
        if last is None:
            yield ProducerEntry(producer_id, state.epoch, -1, NO_OFFSET, 0, *epoch_and_times)
        else:
            delta = last.last_offset - last.base_offset
            yield ProducerEntry(producer_id, state.epoch, last.last_sequence, last.last_offset, delta, *epoch_and_times)


class WrittenNode(NamedTuple):
    """A node that was written: the path of its `server.properties`, and the size of all segments in bytes."""

    node_id: int
    properties: Path
    size: int


def write_folders(nodes: list[NodeFolder], directory: Path) -> list[WrittenNode]:
    """Writes the folders of all nodes into a directory, which must be empty or missing. Only the owner may read it.

    Raises OSError, also if the directory is not empty.
    """
    directory = directory.absolute()
    directory.mkdir(names.ONLY_OWNER, parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise FileExistsError(17, "the directory is not empty", str(directory))
    return [_write_node(node, directory / f"node-{node.meta.node_id}") for node in nodes]


def _write_node(node: NodeFolder, folder: Path) -> WrittenNode:
    data = folder / LOG_FOLDER
    data.mkdir(names.ONLY_OWNER, parents=True)
    settings = {**node.settings, "log.dirs": str(data)}
    (folder / PROPERTIES_FILE).write_text(_properties_text(folder / PROPERTIES_FILE, settings))
    size = sum(_write_replica(replica, data / str(replica.name)) for replica in node.replicas)
    (data / names.RECOVERY_POINTS).write_text(offsets_text({each.name: each.end_offset for each in node.replicas}))
    (data / names.START_OFFSETS).write_text(offsets_text({each.name: each.start_offset for each in node.replicas}))
    (data / names.HIGH_WATERMARKS).write_text(offsets_text({each.name: each.high_watermark for each in node.replicas}))
    if node.metadata is not None:
        (data / names.BOOTSTRAP).write_bytes(node.metadata)
    (data / names.META_PROPERTIES).write_text(meta_properties_text(node.meta))
    (data / names.CLEAN_SHUTDOWN).write_text(NO_BROKER_EPOCH)
    return WrittenNode(node.meta.node_id, folder / PROPERTIES_FILE, size)


def _properties_text(path: Path, settings: Mapping[str, str]) -> str:
    lines = [f"{name}={_escape(text)}" for name, text in settings.items()]
    return "\n".join(["# Start this node with Apache Kafka 4.3 or later:", f"#   {start_command(path)}", *lines, ""])


def _escape(text: str) -> str:
    """Returns the value of a setting as java.util.Properties reads it."""
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return "\\" + text if text.startswith(" ") else text


def start_command(properties: Path) -> str:
    """Returns the command that starts a node of an export."""
    return f"bin/kafka-server-start.sh '{properties}'"


def _write_replica(replica: Replica, folder: Path) -> int:
    folder.mkdir(names.ONLY_OWNER)
    bases = [segment.base_offset for segment in replica.segments]
    for segment, following in zip(replica.segments, [*bases[1:], names.MAX_OFFSET], strict=True):
        aborted = [each for each in replica.aborted if segment.base_offset <= each.last_offset < following]
        _write_segment(segment, aborted, folder)
    (folder / names.EPOCHS).write_text(epochs_text(replica.epochs))
    (folder / names.offset_name(replica.end_offset, names.PRODUCERS)).write_bytes(producer_snapshot_bytes(replica.producers))
    (folder / names.PARTITION_METADATA).write_text(topic_id_text(replica.topic_id))
    return sum(len(part) for segment in replica.segments for part in segment.slices)


def _write_segment(segment: SegmentParts, aborted: list[EndedTransaction], folder: Path) -> None:
    base = segment.base_offset

    def path(suffix: str) -> Path:
        return folder / names.offset_name(base, suffix)

    indexes = IndexBuilder()
    with path(names.LOG).open("xb") as file:
        for batches in segment.slices:
            for batch in split(batches):
                entry = read_entry(batch, 0)
                if isinstance(entry, Entry):
                    indexes.add(entry)
            file.write(batches)
    indexes.finish()
    path(names.INDEX).write_bytes(offset_index_bytes(indexes.offsets, base))
    path(names.TIME_INDEX).write_bytes(time_index_bytes(indexes.times, base))
    if aborted:
        path(names.TRANSACTION_INDEX).write_bytes(transaction_index_bytes(aborted))
