"""A cluster in a process of its own whose nodes stop and start when told: its memory is then nobody else's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from odradek.broker import Cluster
from tests.fuzz.playing import listening

PATIENCE_S = 60.0


class Brokers:
    """The cluster, from outside. `complaint` is the first stack trace that it logged, once it has ended."""

    def __init__(self, nodes: int, topics: Mapping[str, int], settings: Mapping[str, str], seed: int) -> None:
        context = get_context("spawn")
        self._channel, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, nodes, topics, settings, seed))
        self._process.start()
        other.close()
        self.complaint: str | None = None

    def __enter__(self) -> Self:
        self.bootstrap_servers: str = self._told()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._channel.send(("end", 0))
        self.complaint = self._told()
        self._process.join(PATIENCE_S)
        if self._process.is_alive():
            self._process.kill()
            self.complaint = self.complaint or "the cluster did not end"

    def stop_node(self, node_id: int) -> None:
        """Returns when the node is gone."""
        self._channel.send(("stop_node", node_id))
        self._told()

    def start_node(self, node_id: int) -> None:
        """Returns when the node serves."""
        self._channel.send(("start_node", node_id))
        self._told()

    def memory_kib(self) -> int:
        """What the process takes now."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0])

    def _told(self) -> Any:
        assert self._channel.poll(PATIENCE_S), "the cluster does not answer"
        return self._channel.recv()  # EOFError: its process has ended


def _serve(channel: Connection, nodes: int, topics: Mapping[str, int], settings: Mapping[str, str], seed: int) -> None:
    with listening() as complaints:
        with Cluster(nodes=nodes, topics=topics, settings=settings, seed=seed) as cluster:
            channel.send(cluster.bootstrap_servers)
            while True:
                call, node_id = channel.recv()
                if call == "end":
                    break
                getattr(cluster, call)(node_id)
                channel.send(None)
        channel.send(complaints.found and f"{complaints.found[1]}: {complaints.found[0]!r}")
