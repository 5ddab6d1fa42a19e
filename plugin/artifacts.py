"""The files of a failed test in the folder of `--kafka-artifacts`: a page about it, and what clients and brokers have sent.

A capture is written from the start of each test on and deleted if the test passes, because nobody knows before whether a test will fail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from .artifact_page import ClusterPart, page_of
from .failure_report import without

if TYPE_CHECKING:
    from .failure_report import ClusterReport
    from .watching import Watched

MAX_CHARACTERS = 120
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def file_name(test: str, worker: str) -> str:
    """Returns the beginning of the names of a test's files. It is legal on every system, and no other test or worker has the same."""
    digest = sha256(test.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{_UNSAFE.sub('-', test)[-MAX_CHARACTERS:].strip('.-')}-{digest}-{worker}"


class Artifacts:
    """The files of one test: a page, and a capture of each cluster. `name` begins their names in `folder`, created when it is needed."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._captured: dict[Watched, Path] = {}
        """The captures that are being written."""
        self._written: dict[Watched, list[Path]] = {}
        self._parts: dict[Watched, ClusterPart] = {}
        """The parts of the page about clusters that are complete."""
        self._problems: dict[Watched, str] = {}

    def begin(self, watched: Watched) -> None:
        """Begins to capture a cluster, unless it writes a capture of its own."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._written[watched] = []
        number = f"-{len(self._written)}" if len(self._written) > 1 else ""
        path = self._folder / f"{self._name}{number}.pcapng"
        try:
            watched.cluster.start_capture(path)
            self._captured[watched] = path
        except ValueError as error:
            self._problems[watched] = f"no capture is kept: {error}"

    def complete(self, watched: Watched, report: ClusterReport) -> list[str]:
        """Ends the capture of a cluster, keeps its part of the page, and returns a line for each capture."""
        if (path := self._captured.pop(watched, None)) is not None:
            _stop(watched)
            self._written[watched].append(path)
        if watched not in self._parts:
            self._parts[watched] = ClusterPart(report, _diagram(watched))
        problems = [self._problems[watched]] if watched in self._problems else []
        return [*(f"file: {path}" for path in self._written[watched]), *problems]

    def write_page(self, test: str, failures: Mapping[str, str]) -> str:
        """Writes the page about a test with the texts of its failures by their phases, and returns the line for it."""
        page = self._folder / f"{self._name}.html"
        page.write_text(page_of(test, failures, self._parts.values()), encoding="utf-8", errors="backslashreplace")
        return f"file: {page}"

    def discard(self) -> None:
        """Ends all captures and deletes them, because the test has passed."""
        for watched in self._captured:
            _stop(watched)
        for path in (*self._captured.values(), *(path for paths in self._written.values() for path in paths)):
            path.unlink(missing_ok=True)


def _diagram(watched: Watched) -> str:
    """Returns the diagram of a cluster; "" for one that is not running or does not record exchanges."""
    with suppress(ValueError):
        if watched.since is not None:
            return watched.cluster.wire.diagram("html", watched.since, without(watched.foreign))
    return ""


def _stop(watched: Watched) -> None:
    """Ends the capture of a cluster, unless the test has ended it or has stopped the cluster."""
    with suppress(ValueError, RuntimeError):
        watched.cluster.stop_capture()
