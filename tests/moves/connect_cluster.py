"""A worker of Kafka Connect that copies a file into a topic exactly once, and the topic into another file."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from tests.programs.connect import TOPIC, Files, Worker, lines
from tests.programs.program import PATIENCE_S
from tests.storage.directories import recording
from tests.waiting import until

LINES, LAST_LINES = 300, 50


class ConnectCluster:
    """The worker, which finds its connectors, their settings and their offsets in the topics of the cluster."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = Files(folder)
        self._written = 0

    def work(self, servers: str) -> None:
        """Copies all lines, those that the worker before has left too, and ends the worker while it copies more."""
        is_first = not self._written
        if is_first:
            admin = AdminClient({"bootstrap.servers": servers})
            admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(PATIENCE_S)
        self._append(LINES)
        folder = self._folder / f"worker-{self._written}"
        folder.mkdir()
        with Worker(servers, folder) as worker:
            if is_first:
                self._files.start_copying(worker)
            until(lambda: len(self._copied()) >= self._written, PATIENCE_S)
            assert [worker.task(connector)["state"] for connector in ("source", "sink")] == ["RUNNING", "RUNNING"]
            assert self._copied() == lines(0, self._written)
            rows = recording.read(servers, TOPIC, "read_committed")
            assert [row[4] for row in rows[:-1]] == lines(0, self._written)
            self._append(LAST_LINES)
            worker.terminate()

    def leave(self) -> None:
        """Does nothing, because no client outlives the broker."""

    def _append(self, count: int) -> None:
        self._files.append(self._written, self._written + count)
        self._written += count

    def _copied(self) -> list[str]:
        return self._files.sink.read_text().splitlines() if self._files.sink.exists() else []
