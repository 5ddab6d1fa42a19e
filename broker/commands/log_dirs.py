"""`odradek serve --data-dir` and `--from-log-dir`: the directory that keeps a cluster's data, and directories with which it starts."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .options import count, moment, size

if TYPE_CHECKING:
    from ..directories.source import ImportSource
    from ..durability.data_directory import DataDirectory


def add_log_dir_options(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--data-dir", metavar="DIR", help="keep all data in this directory, and start with what it contains (default: only in memory)"
    )
    limit_help = "with --data-dir: memory for records, such as 512m; older ones are served from the files (default: no limit)"
    run.add_argument("--memory-limit", type=size, metavar="SIZE", help=limit_help)
    run.add_argument(
        "--from-log-dir",
        nargs="+",
        action="extend",
        default=[],
        metavar="DIR",
        help="start with the data of Apache Kafka: log.dirs of its brokers, one for each node",
    )
    topics_help = "with --from-log-dir: take only topics that match a pattern, such as 'orders*'"
    run.add_argument("--topics", nargs="+", action="extend", default=[], metavar="PATTERN", help=topics_help)
    run.add_argument("--from-offset", type=count, metavar="N", help="with --from-log-dir: the first offset of each partition to take")
    time_help = "with --from-log-dir: leave out records from this time on, such as 2026-01-31T12:00:00+00:00, or in ms"
    run.add_argument("--until-time", type=moment, metavar="TIME", help=time_help)
    run.add_argument("--latest", type=count, metavar="N", help="with --from-log-dir: take only the last N records of each partition")


def data_directory(options: argparse.Namespace, environ: Mapping[str, str]) -> DataDirectory | None:
    """Returns the directory of --data-dir, None without the option. Raises InvalidConfig."""
    from ..settings.properties import InvalidConfig

    if options.data_dir is None:
        if options.memory_limit is not None:
            raise InvalidConfig("--memory-limit has no effect without --data-dir, whose files have the records that are not in memory")
        return None
    from pathlib import Path

    if options.load is not None or options.from_log_dir or options.as_version is not None:
        raise InvalidConfig("--data-dir cannot be combined with --load, --from-log-dir and --as-version")

    from ..durability.data_directory import DataDirectory

    return DataDirectory(Path(options.data_dir), environ.get("CLUSTER_ID"))


def log_dirs(options: argparse.Namespace) -> ImportSource | None:
    """Returns the log directories of --from-log-dir, None without the option. Raises InvalidConfig."""
    from ..settings.properties import InvalidConfig

    selects = options.topics or any(each is not None for each in (options.from_offset, options.until_time, options.latest))
    if not options.from_log_dir:
        if selects:
            raise InvalidConfig("--topics, --from-offset, --until-time and --latest have no effect without --from-log-dir")
        return None
    if options.load is not None or options.nodes:
        raise InvalidConfig("--load and --nodes cannot be combined with --from-log-dir, because the directories contain the nodes")
    from pathlib import Path

    from ..directories.selection import LogDirImport, Selection
    from ..directories.source import source_of

    selection = Selection(options.topics, options.from_offset, options.until_time, options.latest)
    return source_of(LogDirImport(list(map(Path, options.from_log_dir)), selection))
