"""ARCHITECTURE.md and CONTRIBUTING.md name existing files, and every module has a test file of its name or a row in ARCHITECTURE.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("broker", "plugin", "protocol", "storage", "spark_sink")
FOLDERS = (*CODE, "tests", "docs", "benchmarks", "examples", r"\.ci", r"\.dev")
PATHS = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./]*)`")
ROWS = re.compile(r"^\| `([\w/.]+)` \| (.+) \|$", re.MULTILINE)
DECLARATIONS = "protocol/messages"
"""The modules of this folder only declare messages; tests/protocol reads them from the registry."""


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table_of_tests() -> dict[str, str]:
    """Returns the tests of the modules in ARCHITECTURE.md's table, as they are written there."""
    (section,) = re.findall(r"^## Where the tests of a module are\n(.*?)(?=^## |\Z)", read("ARCHITECTURE.md"), re.MULTILINE | re.DOTALL)
    return dict(ROWS.findall(section))


def twin(module: str) -> str:
    """Returns where the tests of a module are unless the table names others."""
    path = re.sub(r"^spark_sink/", "spark/", module)
    folder, _, name = path.rpartition("/")
    return f"tests/{folder}/test_{name}"


def modules() -> list[str]:
    paths = [path.relative_to(ROOT).as_posix() for folder in CODE for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in paths if not path.endswith("__init__.py") and not path.startswith(DECLARATIONS)]


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"])
def test_paths_in_documents_exist(name: str) -> None:
    paths = [path for path in PATHS.findall(read(name)) if "<" not in path]
    assert not [path for path in paths if not (ROOT / path).exists() and not (ROOT / f"{path}.py").exists()]


def test_modules_have_a_test_file_or_a_row() -> None:
    rows = table_of_tests()
    if found := [f"{module}:1: {twin(module)}" for module in modules() if not (ROOT / twin(module)).exists() and module not in rows]:
        pytest.fail("modules without a test file of the same name and without a row:\n" + "\n".join(found), pytrace=False)


def test_rows_are_needed_and_current() -> None:
    rows = table_of_tests()
    assert not [module for module in rows if module not in modules() or (ROOT / twin(module)).exists()]
    named = {path for tests in rows.values() for path in re.findall(r"`([\w/.]+)`", tests)}
    assert not [path for path in sorted(named) if not (ROOT / path).exists()]
