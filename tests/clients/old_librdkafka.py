"""librdkafka 1.9.2 of 2022, with old versions of everything: a child process, in Python 3.10, the newest it was built for, or in Go."""

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
    """In the user's cache: what is made the first time."""
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", f"librdkafka-{VERSION}-{language}").expanduser()


def _in_python() -> list[str] | None:
    """The command of a client in Python 3.10, in a virtual environment; None without one."""
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
    """The one on the path, else pyenv's newest."""
    candidates = ["python3.10"]
    if shutil.which("pyenv"):
        newest = subprocess.run(["pyenv", "prefix", "3.10"], capture_output=True, text=True)
        candidates.append(f"{newest.stdout.strip()}/bin/python3.10")
    # pyenv leaves a command of that name on the path which only says that it is not chosen.
    works = (python for python in candidates if shutil.which(python) and not subprocess.run([python, "-V"], capture_output=True).returncode)
    return next(works, None)


def _in_go() -> list[str]:
    """The command of the client in go/. Raises Unavailable where Go or a C compiler is missing."""
    program = _home("go") / "client"
    if shutil.which("go") is None:
        raise Unavailable(f"neither Python 3.10 nor Go, which librdkafka {VERSION} was built for")
    # Nothing is done where the program is as new as its source.
    if subprocess.run(["go", "build", "-o", str(program), "."], cwd=Path(__file__).with_name("go")).returncode:
        raise Unavailable(f"no Python 3.10, and Go could not build a client with librdkafka {VERSION}")
    return [str(program)]


if __name__ == "__main__":
    from tests.clients.librdkafka import Librdkafka

    serve(Librdkafka(), sys.stdin, sys.stdout)
