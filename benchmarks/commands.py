"""The commands of odradek and its import, each in a process of its own: CPU time, and the rate of lines that are written and read."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from os import environ
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from .brokers import ODRADEK, Broker
from .rows import Figures, Measure, Row, Target
from .topics import new_topic

LINES = 1_000_000
RUNS = 5
_ODRADEK = str(Path(sys.executable).with_name("odradek"))


def cpu_ms(command: Sequence[str]) -> float:
    """Returns the least CPU time of several runs of a command, in ms. Raises CalledProcessError."""

    def once() -> float:
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run(command, env=_environment(), check=True, stdout=subprocess.DEVNULL)
        after = getrusage(RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3

    return min(once() for _ in range(RUNS))


def _environment() -> dict[str, str]:
    """Returns the variables of a process that compiles modules at their first import only, as installed ones are."""
    return {key: value for key, value in environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def starts(_broker: Broker) -> Figures:
    """Measures the import of `Cluster` and a control, relative to an interpreter that does nothing."""
    idle_ms = cpu_ms([sys.executable, "-c", "pass"])
    command = [_ODRADEK, "serve", "--nodes", "1", "--port", "0", "--control", "127.0.0.1:0"]
    with subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as served:
        try:
            assert served.stdout is not None
            served.stdout.readline()
            control = served.stdout.readline().strip().removeprefix("control=")
            ctl_ms = cpu_ms([_ODRADEK, "ctl", "--control", control, "node", "list"])
        finally:
            served.terminate()
    imported_ms = cpu_ms([sys.executable, "-c", "from odradek import Cluster"])
    return {"from odradek import Cluster: CPU": imported_ms - idle_ms, "odradek ctl node list: CPU": ctl_ms}


def lines(broker: Broker) -> Figures:
    """Measures how fast `odradek produce` writes lines of a file to a topic, and `odradek consume` prints them."""
    with new_topic(broker) as topic, TemporaryDirectory() as folder:
        file = Path(folder, "lines")
        file.write_text("".join(f"line {number} of {LINES}\n" for number in range(LINES)))
        server = ["--bootstrap-server", broker.bootstrap_servers]
        rates = {}
        for name, command in (("produce", ["produce", topic, "--file", str(file)]), ("consume", ["consume", topic])):
            began = time.perf_counter()
            subprocess.run([_ODRADEK, *command, *server], env=_environment(), check=True, stdout=subprocess.DEVNULL)
            rates[f"odradek {name} of 1 M lines"] = LINES / (time.perf_counter() - began) / 1e6
        return rates


MEASURES = (
    Measure(
        (Row("from odradek import Cluster: CPU", "ms", (Target(40),)), Row("odradek ctl node list: CPU", "ms", (Target(55),))),
        starts,
        (ODRADEK,),
    ),
    Measure(
        tuple(Row(f"odradek {name} of 1 M lines", "M/s", (Target(1, at_least=True),)) for name in ("produce", "consume")),
        lines,
        (ODRADEK,),
    ),
)
