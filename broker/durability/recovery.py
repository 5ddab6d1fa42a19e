"""Fills a cluster from its own data directory when it starts."""

from __future__ import annotations

import logging

from ...storage.directories import names
from ...storage.directories.names import DamagedFile
from ..cluster.state import ClusterState
from ..directories.importing import import_directories
from ..settings.properties import InvalidConfig
from .data_directory import DataDirectory

log = logging.getLogger("kafka.log.LogManager")


def recover(cluster: ClusterState, directory: DataDirectory) -> None:
    """Fills a new cluster with the topics, records, groups, accounts and settings that its data directory contains.

    After a crash, `DataDirectory.source` cuts off the damaged ends of logs. Raises InvalidConfig.
    """
    was_stopped = (directory.path / names.CLEAN_SHUTDOWN).exists()
    log.info("loading logs from %s, which was %s", directory.path, "stopped in order" if was_stopped else "not stopped in order")
    try:
        source = directory.source()
    except DamagedFile as error:
        raise InvalidConfig(f"cannot read the data directory: {error}") from None
    except OSError as error:
        raise InvalidConfig(f"cannot read {error.filename}: {error.strerror or error}") from None
    import_directories(cluster, source)
