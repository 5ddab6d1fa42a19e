"""odradek is installed as the documentation says: from the address of a repository, because PyPI has no release of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .listings import ROOT, listings, pages, read

FROM_PYPI = re.compile(r"pip (?:install|download) [^\n`]*?(?<=[\s'\"])odradek(?:\[[\w,]+\])?(?=['\"]?(?:\s|$|`))")
"""A command that asks PyPI for odradek. In sentences, `odradek[extra]` adds to an installation, and is not searched for."""


@pytest.mark.parametrize("page", pages())
def test_commands_do_not_ask_pypi_for_odradek(page: str) -> None:
    asking = [str(listing) for listing in listings(page) if FROM_PYPI.search(listing.text.replace(" @", "@"))]
    assert not asking and not re.search(r"pip install odradek\b", read(page))


def test_command_that_asks_pypi_is_found() -> None:
    assert all(FROM_PYPI.search(text) for text in ("pip install odradek\n", "pip install 'odradek[tls]'", "pip install pytest odradek"))
    assert not FROM_PYPI.search("pip install ./odradek")


@pytest.mark.slow
def test_address_of_a_repository_can_be_installed(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a clone")
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--target", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, f"git+file://{ROOT}"], cwd=tmp_path, check=True)
    serves = "import odradek; assert odradek.__file__.startswith(ORIGIN); odradek.Cluster().start().stop()".replace(
        "ORIGIN", repr(str(tmp_path))
    )
    subprocess.run([sys.executable, "-c", serves], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, check=True)
