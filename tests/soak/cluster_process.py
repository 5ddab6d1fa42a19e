"""A cluster in a separate process, so that its memory can be measured; its controls can be called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from odradek.broker import Cluster
from tests.fuzz.player import captured_errors

PATIENCE_S = 120.0


class ClusterProcess:
    """A cluster in another process. `logged_error` is the first stack trace in its log, available after its end."""

    def __init__(self, nodes: int, topics: Mapping[str, int], settings: Mapping[str, str], seed: int) -> None:
        context = get_context("spawn")
        self._channel, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, nodes, topics, settings, seed))
        self._process.start()
        other.close()
        self.logged_error: str | None = None

    def __enter__(self) -> Self:
        self.bootstrap_servers: str = self._receive()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._channel.send(("end", {}))
        self.logged_error = self._receive()
        self._process.join(PATIENCE_S)
        if self._process.is_alive():
            self._process.kill()
            self.logged_error = self.logged_error or "the cluster did not end"

    def control(self, call: str, **arguments: Any) -> Any:
        """Calls a control of the cluster, such as "stop_node", waits until it is done and returns its result."""
        self._channel.send((call, arguments))
        return self._receive()

    def memory_kib(self) -> int:
        """Returns the resident memory of the process in KiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0])

    def _receive(self) -> Any:
        assert self._channel.poll(PATIENCE_S), "the cluster does not answer"
        return self._channel.recv()  # raises EOFError when the process has ended


def _serve(channel: Connection, nodes: int, topics: Mapping[str, int], settings: Mapping[str, str], seed: int) -> None:
    with captured_errors() as logged_errors:
        with Cluster(nodes=nodes, topics=topics, settings=settings, seed=seed) as cluster:
            channel.send(cluster.bootstrap_servers)
            while True:
                call, arguments = channel.recv()
                if call == "end":
                    break
                channel.send(getattr(cluster, call)(**arguments))
        channel.send(logged_errors.found and f"{logged_errors.found[1]}: {logged_errors.found[0]!r}")
