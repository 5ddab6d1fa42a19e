"""Runs `odradek serve` as a separate process, with access to its addresses, memory and log."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "import sys; from odradek.broker.cli import main; sys.exit(main())"]
PATIENCE_S = 120.0
LOGGED_ERROR = re.compile(rb"Traceback|\] ERROR |Logging error|Task exception|never (awaited|retrieved)")


class BrokerProcess:
    """A cluster in a separate process. The end of the `with` block stops it, and kills it if it does not end."""

    def __init__(
        self, settings: Mapping[str, str], *, topics: Sequence[str] = (), options: Sequence[str] = ("--nodes=2", "--port=0")
    ) -> None:
        self._log = TemporaryFile()  # noqa: SIM115 (closed with the cluster)
        options = [*options, *(f"--topic={topic}" for topic in topics)] + [f"--set={name}={value}" for name, value in settings.items()]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_")}
        environ["PYTHONPATH"] = str(ROOT / ".dev")
        command = [*COMMAND, "serve", *options]
        self.process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=self._log, text=True)
        assert self.process.stdout is not None
        first_line = self.process.stdout.readline()
        if not first_line.startswith("bootstrap.servers="):
            with self._log:
                self.process.communicate(timeout=PATIENCE_S)
                raise AssertionError(f"no bootstrap.servers: {first_line}{self.log().decode()}")
        self.bootstrap_servers = first_line.strip().partition("=")[2]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self.process.returncode is None:
            self.stop()
        self._log.close()

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """The host and port of each node."""
        return [(host, int(port)) for host, _, port in (each.rpartition(":") for each in self.bootstrap_servers.split(","))]

    def memory_kib(self, name: str = "VmRSS") -> int:
        """Returns the resident memory of the process in KiB; with VmHWM its maximum so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.findall(rf"{name}:\s+(\d+) kB", status)[0])

    def log(self) -> bytes:
        """Returns everything that the process has written to standard error."""
        self._log.seek(0)
        return self._log.read()

    def logged_errors(self) -> list[str]:
        """Returns stack traces and errors in the log, with the text around the first of each kind."""
        log = self.log()
        first = {match[0]: match.start() for match in reversed(list(LOGGED_ERROR.finditer(log)))}
        return [log[max(0, at - 300) : at + 3000].decode(errors="replace") for at in first.values()]

    def stop(self) -> int | None:
        """Sends SIGTERM and returns the exit code; None if it had to be killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            return None
        return self.process.returncode
