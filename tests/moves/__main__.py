"""`make moves`: applications continue where they stopped when their cluster moves between odradek and Apache Kafka."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic

from tests.broker.directories.exported_kafka import KafkaEnded

from .connect_cluster import ConnectCluster
from .moved_cluster import ROUND_TRIPS, Application, move
from .records import Records
from .share_group import ShareGroup
from .word_count import WordCount

APPLICATIONS: Mapping[str, Callable[[Path], Application]] = {
    "records": lambda _: Records(nodes=1),
    "two-nodes": lambda _: Records(nodes=2),
    "share-group": lambda _: ShareGroup(),
    "streams": WordCount,
    "connect": ConnectCluster,
}
NODES = {"two-nodes": 2}


def main() -> int:
    """Moves each application there and back. Returns 1 if one did not continue, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.moves")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"the applications to move, of {', '.join(APPLICATIONS)}")
    names = parser.parse_args().names or list(APPLICATIONS)
    if unknown := [name for name in names if name not in APPLICATIONS]:
        parser.error(f"unknown applications {', '.join(unknown)}; give some of {', '.join(APPLICATIONS)}")
    failed = 0
    for name in names:
        for brokers in ROUND_TRIPS:
            folder, begun_s = Path(tempfile.mkdtemp(prefix="odradek-moves-")), monotonic()
            (folder / "application").mkdir()
            try:
                move(APPLICATIONS[name](folder / "application"), brokers, folder, NODES.get(name, 1))
                result = "continued"
            except (AssertionError, KafkaEnded) as error:
                result, failed = f"FAILED: {error}; {folder}", 1
            print(f"{name}: {' -> '.join(brokers)}: {result}, {monotonic() - begun_s:.0f} s", flush=True)  # noqa: T201
    return failed


if __name__ == "__main__":
    sys.exit(main())
