"""The log directories of one cluster, before a cluster is started with them: their nodes, and the metadata that they contain."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ...storage.directories.log_directory import LogDirectory
from ...storage.directories.metadata_image import MetadataImage
from ...storage.directories.metadata_log import read_metadata, read_records
from ...storage.directories.names import BOOTSTRAP, DamagedFile, PartitionName
from ..settings.properties import InvalidConfig
from .selection import LogDirImport, Selection

log = logging.getLogger("kafka.log.LogManager")


class Copy(NamedTuple):
    """The copy of a partition that one node has."""

    node_id: int
    directory: LogDirectory


class Source:
    """The directories to import, by the id of their node. A node may have several. `has_all_nodes` says that one has the logs of all."""

    def __init__(self, directories: Sequence[LogDirectory], selection: Selection, *, has_all_nodes: bool = False) -> None:
        self.directories, self.selection, self.has_all_nodes = directories, selection, has_all_nodes
        self.nodes: dict[int, list[LogDirectory]] = {}
        self.cluster_id = ""
        for directory in directories:
            if directory.meta is None:
                raise InvalidConfig(f"{directory.path} has no meta.properties; give a folder that is one of the log.dirs of a broker")
            if self.cluster_id not in ("", directory.meta.cluster_id):
                raise InvalidConfig(f"{directory.path} belongs to the cluster {directory.meta.cluster_id}, not to {self.cluster_id}")
            self.cluster_id = directory.meta.cluster_id
            self.nodes.setdefault(directory.meta.node_id, []).append(directory)
            if directory.is_in_use:
                log.warning("a running broker uses %s: it is read as it is now", directory.path)

    @cached_property
    def image(self) -> MetadataImage | None:
        """The metadata of the first directory that has any; None for directories of ZooKeeper's time. Raises DamagedFile, OSError.

        Before Apache Kafka has started on an export, the metadata is in `bootstrap.checkpoint`.
        """
        folders = [folder for each in self.directories if (folder := each.metadata_folder) is not None]
        if folders:
            return MetadataImage(read_metadata(folders[0]))
        files = [file for each in self.directories if (file := each.path / BOOTSTRAP).exists()]
        return MetadataImage(record.message for record in read_records(files[0]) if record.message) if files else None

    @cached_property
    def copies(self) -> dict[PartitionName, list[Copy]]:
        """The copies of each selected partition."""
        found: dict[PartitionName, list[Copy]] = {}
        for node_id, directories in sorted(self.nodes.items()):
            for directory in directories:
                for name in directory.partitions:
                    if self.selection.takes(name.topic):
                        found.setdefault(name, []).append(Copy(node_id, directory))
        return found

    def settings_of(self, node_id: int) -> dict[str, str]:
        """Returns the settings of a node that follow from the directories: its id and its rack."""
        broker = None if self.image is None else self.image.brokers.get(node_id)
        return {"node.id": str(node_id)} | ({"broker.rack": broker.rack} if broker is not None and broker.rack else {})


def source_of(given: LogDirImport) -> Source:
    """Returns the directories of an import, whose metadata has been read. Raises InvalidConfig."""
    for path in given.directories:
        if not path.is_dir():
            raise InvalidConfig(f"{path} is no folder; give one of the log.dirs of a broker")
    try:
        source = Source([LogDirectory(Path(path)) for path in given.directories], given.selection)
        _ = source.image, source.copies
    except DamagedFile as error:
        raise InvalidConfig(f"cannot read the log directory: {error}") from None
    except OSError as error:
        raise InvalidConfig(f"cannot read {error.filename}: {error.strerror or error}") from None
    return source
