"""librdkafka 1.9.2 (2022), which uses old versions of requests, in a child process.

The process runs Python 3.10, the newest version for which it was built, or a Go program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.clients.child import Child, ChildClient, serve
from tests.clients.client import Unavailable

VERSION = "1.9.2"


class OldLibrdkafka(ChildClient):
    def __init__(self) -> None:
        super().__init__(Child(_in_python() or _in_go()))


def _home(language: str) -> Path:
    """Returns the directory in the user's cache in which the client is installed on first use."""
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", f"librdkafka-{VERSION}-{language}").expanduser()


def _in_python() -> list[str] | None:
    """Returns the command of a client in a virtual environment of Python 3.10; None if it cannot be installed."""
    home = _home("python")
    python = str(home / "bin" / "python")
    if not (home / "complete").exists():
        base = _python_3_10()
        if base is None:
            return None
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([base, "-m", "venv", str(home)], check=True)
        pip = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary=:all:",
            f"confluent-kafka=={VERSION}",
        ]
        if subprocess.run(pip, stdout=sys.stderr).returncode:
            return None
        (home / "complete").touch()
    return [python, "-m", __name__]


def _python_3_10() -> str | None:
    """Returns Python 3.10 on the path or of pyenv; None if there is none."""
    candidates = ["python3.10"]
    if shutil.which("pyenv"):
        newest = subprocess.run(["pyenv", "prefix", "3.10"], capture_output=True, text=True)
        candidates.append(f"{newest.stdout.strip()}/bin/python3.10")
    # pyenv puts a command of this name on the path that only prints an error if the version is not selected.
    works = (python for python in candidates if shutil.which(python) and not subprocess.run([python, "-V"], capture_output=True).returncode)
    return next(works, None)


def _in_go() -> list[str]:
    """Returns the command of the client in go/. Raises Unavailable if Go or a C compiler is missing."""
    program = _home("go") / "client"
    if shutil.which("go") is None:
        raise Unavailable(f"librdkafka {VERSION} needs Python 3.10 or Go")
    # Go does not rebuild an up-to-date program.
    if subprocess.run(["go", "build", "-o", str(program), "."], cwd=Path(__file__).with_name("go")).returncode:
        raise Unavailable(f"Python 3.10 is not installed, and go build failed with librdkafka {VERSION}")
    return [str(program)]


if __name__ == "__main__":
    from tests.clients.librdkafka import Librdkafka

    serve(Librdkafka(), sys.stdin, sys.stdout)
