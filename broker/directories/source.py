"""The log directories with which a cluster starts, and the settings of its nodes that follow from them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from ...storage.directories.names import DamagedFile
from ...storage.directories.stored_cluster import StoredCluster, WrongDirectory
from ..settings.properties import InvalidConfig
from .selection import LogDirImport, Selection

log = logging.getLogger("kafka.log.LogManager")


class ImportSource(StoredCluster):
    """The directories to import, and the part of their records to take."""

    has_all_nodes = False
    """Whether one directory has the logs of all nodes, as a data directory has."""

    def __init__(self, paths: Iterable[Path], selection: Selection) -> None:
        super().__init__(paths)
        self.selection = selection
        for directory in self.directories:
            if directory.is_in_use:
                log.warning("a running broker uses %s: it is read as it is now", directory.path)

    def settings_of(self, node_id: int) -> dict[str, str]:
        """Returns the settings of a node that follow from the directories: its id and its rack."""
        broker = None if self.image is None else self.image.brokers.get(node_id)
        return {"node.id": str(node_id)} | ({"broker.rack": broker.rack} if broker is not None and broker.rack else {})


def source_of(given: LogDirImport) -> ImportSource:
    """Returns the directories of an import, whose metadata has been read. Raises InvalidConfig."""
    try:
        source = ImportSource(map(Path, given.directories), given.selection)
        _ = source.image, source.copies
    except WrongDirectory as error:
        raise InvalidConfig(str(error)) from None
    except DamagedFile as error:
        raise InvalidConfig(f"cannot read the log directory: {error}") from None
    except OSError as error:
        raise InvalidConfig(f"cannot read {error.filename}: {error.strerror or error}") from None
    return source
