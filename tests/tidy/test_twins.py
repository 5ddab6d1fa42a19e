"""Checks that the tests of every module can be found.

A module has a test file of the same name in the corresponding folder, or a line in ARCHITECTURE.md, in the table `| module | tests |` below
the heading `## Where the tests of a module are`. In this table a module may be a shell pattern, and paths are written in backquotes.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("broker", "protocol", "storage", "spark_sink")
HEADING = "## Where the tests of a module are"
MOVED = {"broker/groups": "groups", "broker/transactions": "transactions", "spark_sink": "spark"}
"""Folders whose tests are in another folder of tests/."""


def table() -> dict[str, list[str]]:
    """Returns the paths of tests by the pattern of modules."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition(HEADING)[2].split("\n## ")[0]
    rows = [[re.findall(r"`([^`]+)`", cell) for cell in line.strip().strip("|").split("|", 1)] for line in text.splitlines() if "`" in line]
    return {module: tests for modules, tests in (row for row in rows if len(row) == 2) for module in modules}


def twin_of(module: str) -> str:
    """Returns the path of the test file that belongs to a module."""
    folder, _, name = module.rpartition("/")
    for code, tests in MOVED.items():
        if folder == code or folder.startswith(f"{code}/"):
            folder = tests + folder.removeprefix(code)
    return f"tests/{folder}/test_{name}"


@pytest.mark.parametrize("folder", CODE)
def test_modules_of_a_folder_have_tests(folder: str) -> None:
    modules = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py") if path.name != "__init__.py")
    patterns = table()
    lost = [
        module
        for module in modules
        if not (ROOT / twin_of(module)).exists() and not any(fnmatchcase(module, pattern) for pattern in patterns)
    ]
    if lost:
        found = "\n".join(f"{module}:1: {twin_of(module)}" for module in lost)
        pytest.fail(f"{len(lost)} modules without a test file of the same name or a line below {HEADING!r}:\n{found}", pytrace=False)


def test_table_of_tests_has_only_existing_paths() -> None:
    code = [path.relative_to(ROOT).as_posix() for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    missing = [pattern for pattern in table() if not any(fnmatchcase(module, pattern) for module in code)]
    missing += [path for tests in table().values() for path in tests if not (ROOT / path).exists() and not (ROOT / "tests" / path).exists()]
    assert not missing


@pytest.mark.parametrize(
    ("module", "twin"),
    [
        ("broker/topics/cleaning.py", "tests/broker/topics/test_cleaning.py"),
        ("broker/groups/classic/group.py", "tests/groups/classic/test_group.py"),
        ("storage/log.py", "tests/storage/test_log.py"),
    ],
)
def test_twin_of_a_module_has_the_same_name(module: str, twin: str) -> None:
    assert twin_of(module) == twin
