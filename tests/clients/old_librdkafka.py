"""librdkafka 1.9.2 of 2022, which fetches and groups by older versions: the newest Python it was built for is 3.10, in a child process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.clients.child import Child, ChildClient, serve
from tests.clients.client import Unavailable

PACKAGE = "confluent-kafka==1.9.2"
ROOT = Path(__file__).parents[2]


class OldLibrdkafka(ChildClient):
    def __init__(self) -> None:
        super().__init__(Child([str(_python()), "-m", __name__], cwd=ROOT))


def _python() -> Path:
    """Of a virtual environment in the user's cache, which is made the first time."""
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", PACKAGE.replace("==", "-")).expanduser()
    python = home / "bin" / "python"
    if not (home / "complete").exists():
        base = _python_3_10()
        if base is None:
            raise Unavailable("no Python 3.10, the newest that librdkafka 1.9.2 was built for")
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([base, "-m", "venv", home], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", PACKAGE]
        if subprocess.run(pip, stdout=sys.stderr).returncode:
            raise Unavailable(f"pip could not install {PACKAGE}")
        (home / "complete").touch()
    return python


def _python_3_10() -> str | None:
    """The one on the path, else pyenv's newest."""
    candidates = ["python3.10"]
    if shutil.which("pyenv"):
        newest = subprocess.run(["pyenv", "prefix", "3.10"], capture_output=True, text=True)
        candidates.append(f"{newest.stdout.strip()}/bin/python3.10")
    # pyenv leaves a command of that name on the path which only says that it is not chosen.
    works = (python for python in candidates if shutil.which(python) and not subprocess.run([python, "-V"], capture_output=True).returncode)
    return next(works, None)


if __name__ == "__main__":
    from tests.clients.librdkafka import Librdkafka

    serve(Librdkafka(), sys.stdin, sys.stdout)
