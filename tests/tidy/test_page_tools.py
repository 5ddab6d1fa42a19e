"""`.dev/page/check.sh`, which checks the page's JavaScript, says what is missing where npm cannot install its tools."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".dev/page/check.sh"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sh is needed")


def check(folder: Path, python: str) -> tuple[int, str]:
    """Returns the exit code and the errors of the script in a folder whose .venv has the given program as its Python."""
    for name in (".venv/bin", ".dev/page"):
        (folder / name).mkdir(parents=True)
    (folder / ".dev/page/package-lock.json").touch()
    program = folder / ".venv/bin/python"
    program.write_text(python)
    program.chmod(0o755)
    done = subprocess.run([SCRIPT], cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_missing_registry_is_explained(tmp_path: Path) -> None:
    code, errors = check(tmp_path, "#!/bin/sh\nexit 1\n")
    assert code == 1
    assert "The page's JavaScript is not checked, because npm cannot install" in errors and "npm_config_registry" in errors


def test_finding_fails_the_check(tmp_path: Path) -> None:
    installs_but_fails = "#!/bin/sh\n[ $3 = npm ] && mkdir -p .dev/page/node_modules\n"
    code, errors = check(tmp_path, installs_but_fails)
    assert (code, errors) == (1, "Installing eslint and TypeScript into .dev/page/node_modules ...\n")
