"""Tests of `.dev/venv.sh`, which runs before every make target: it creates .venv or explains why it cannot be used."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".dev/venv.sh"
OLD_PYTHON = '#!/bin/sh\n[ "$1" = -V ] && echo Python 3.9.2\n[ "$2" = "" ]\n'  # `-c ""` succeeds, but the comparison of versions fails
PYTHON = f"""#!/bin/sh
case "$1 $2" in
    "-m venv") mkdir -p "$3/bin" && ln -s {sys.executable} "$3/bin/python" && echo "#!$PWD/$3/bin/python" >"$3/bin/pip" ;;
    *) exec {sys.executable} "$@" ;;
esac
"""
AGAIN = "Remove it and try again: rm -rf .venv"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="make and sh are needed")


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def venv(folder: Path, python: str) -> tuple[int, str]:
    """Returns the exit code and the output of the script in a folder."""
    done = subprocess.run([SCRIPT, python], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def test_venv_is_made_once_with_a_message(tmp_path: Path) -> None:
    python = str(executable(tmp_path / "python", PYTHON))
    folder = tmp_path / "a clone"
    folder.mkdir()
    assert venv(folder, python) == (0, f"Making .venv with Python {sys.version.split()[0]} ...\n")
    assert venv(folder, python) == (0, "")


def test_venv_without_a_python_is_explained(tmp_path: Path) -> None:
    code, output = venv(tmp_path, "python-that-is-not-here")
    assert code == 1
    assert output.startswith(
        "There is no python-that-is-not-here. odradek needs Python 3.11 or later: install it, or name one with make PYTHON="
    )


def test_venv_of_an_old_python_is_explained(tmp_path: Path) -> None:
    python = str(executable(tmp_path / "python", OLD_PYTHON))
    code, output = venv(tmp_path, python)
    assert code == 1
    assert output == f"{python} is Python 3.9.2, but odradek needs Python 3.11 or later. Name one with make PYTHON=python3.12 ...\n"
    assert not (tmp_path / ".venv").exists()


def test_venv_that_an_old_python_made_is_explained(tmp_path: Path) -> None:
    executable(tmp_path / ".venv/bin/python", OLD_PYTHON)
    code, output = venv(tmp_path, sys.executable)
    assert code == 1
    assert output.startswith(f".venv was made by Python 3.9.2, but odradek needs Python 3.11 or later. {AGAIN}")


def test_venv_whose_python_is_gone_is_explained(tmp_path: Path) -> None:
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(tmp_path / "gone")
    code, output = venv(tmp_path, sys.executable)
    assert code == 1
    assert output.startswith(f".venv is broken: its Python does not start. {AGAIN}")


def test_venv_that_was_moved_is_explained(tmp_path: Path) -> None:
    python = str(executable(tmp_path / "python", PYTHON))
    (tmp_path / "here").mkdir()
    assert venv(tmp_path / "here", python)[0] == 0
    (tmp_path / "here").rename(tmp_path / "there")
    code, output = venv(tmp_path / "there", python)
    assert code == 1
    assert output.startswith(f".venv was made in another folder. {AGAIN}")


def test_venv_without_pip_is_explained(tmp_path: Path) -> None:
    executable(tmp_path / ".venv/bin/python", PYTHON)
    code, output = venv(tmp_path, sys.executable)
    assert code == 1
    assert output.startswith(f".venv is incomplete: it has no pip. {AGAIN}")


def test_venv_needs_the_python_of_the_project() -> None:
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    major, minor = re.fullmatch(r">=(\d+)\.(\d+)", required).groups()  # type: ignore[union-attr]
    script = SCRIPT.read_text(encoding="utf-8")
    assert f"sys.version_info < ({major}, {minor})" in script
    assert f"needs Python {major}.{minor} or later" in script


def test_make_run_installs_before_it_starts() -> None:
    make = ["make", "--dry-run", "--always-make", "run"]
    planned = subprocess.run(make, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    steps = [planned.index(step) for step in (".dev/venv.sh ", 'echo "Installing odradek', "pip install", ".venv/bin/odradek serve")]
    assert steps == sorted(steps)
