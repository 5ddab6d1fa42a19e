"""The files of a failed test in the folder of `--kafka-artifacts`: what clients and brokers have sent, and a sequence diagram of it.

A capture is written from the start of each test on and deleted if the test passes, because nobody knows before whether a test will fail.
"""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .watching import Watched

MOST_CHARACTERS = 120
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def file_name(test: str, worker: str) -> str:
    """Returns the beginning of the names of a test's files. It is legal on every system, and no other test or worker has the same."""
    digest = sha256(test.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{_UNSAFE.sub('-', test)[-MOST_CHARACTERS:].strip('.-')}-{digest}-{worker}"


class Artifacts:
    """The files of one test, one pair for each cluster. `name` begins their names in `folder`, which is created when it is needed."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._captured: dict[Watched, Path] = {}
        """The captures that are being written."""
        self._written: dict[Watched, list[Path]] = {}
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

    def complete(self, watched: Watched) -> list[str]:
        """Ends the capture of a cluster, draws the diagram, and returns a line for each file. Has no effect the second time.

        There is no diagram of a cluster that is not running or does not record exchanges.
        """
        if (path := self._captured.pop(watched, None)) is not None:
            _stop(watched)
            self._written[watched].append(path)
            with suppress(ValueError):
                if watched.since is not None:
                    diagram = path.with_suffix(".html")
                    diagram.write_text(watched.cluster.wire.diagram("html", since=watched.since), encoding="utf-8")
                    self._written[watched].append(diagram)
        problems = [self._problems[watched]] if watched in self._problems else []
        return [*(f"file: {path}" for path in self._written[watched]), *problems]

    def discard(self) -> None:
        """Ends all captures and deletes all files, because the test has passed."""
        for watched, path in self._captured.items():
            _stop(watched)
            path.unlink(missing_ok=True)
        for path in chain.from_iterable(self._written.values()):
            path.unlink(missing_ok=True)


def _stop(watched: Watched) -> None:
    """Ends the capture of a cluster, unless the test has ended it or has stopped the cluster."""
    with suppress(ValueError, RuntimeError):
        watched.cluster.stop_capture()
