"""ARCHITECTURE.md and CONTRIBUTING.md name existing files, and every module has tests where a reader looks for them."""

from __future__ import annotations

import ast
import functools
import re
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("broker", "plugin", "protocol", "simulation", "storage", "spark_sink")
FOLDERS = (*CODE, "tests", "docs", "benchmarks", "documents", "examples", r"\.ci", r"\.dev")
PATHS = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./]*)`")
ROWS = Path(__file__).with_name("tests_of_modules.txt").read_text(encoding="utf-8").splitlines()[1:]
LISTED = {module: tests.split() for module, _, tests in (row.partition(" ") for row in ROWS)}
"""The tests of modules and folders."""
DECLARATIONS = "protocol/messages"
"""The modules of this folder only declare messages; tests/protocol reads them from the registry."""


def modules() -> list[str]:
    paths = [path.relative_to(ROOT).as_posix() for folder in CODE for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in paths if not path.endswith("__init__.py") and not path.startswith(DECLARATIONS)]


def twin(module: str) -> Path:
    """Returns the test file of a module's name."""
    path = ROOT / "tests" / re.sub(r"^spark_sink/", "spark/", module)
    return path.with_name(f"test_{path.name}")


@functools.cache
def imported_by(path: Path) -> frozenset[str]:
    """Returns the full names that a file imports, with those of the modules that it imports them from."""
    package = ".".join(("odradek", *path.parent.relative_to(ROOT).parts))
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return frozenset(names)


def dotted(module: str) -> str:
    return "odradek." + module.removesuffix(".py").replace("/", ".")


def has_tests(module: str) -> bool:
    """Returns whether a test file has the name of a module, or a file beside it, or the test file of the folder, imports the module."""
    own = twin(module)
    beside = [*own.parent.glob("*.py"), own.parent.with_name(f"test_{own.parent.name}.py")]
    return own.exists() or any(dotted(module) in imported_by(path) for path in beside if path.exists())


def is_part_of_a_tested_module(module: str) -> bool:
    """Returns whether a module of the same folder imports a module and has tests."""
    others = [path for path in (ROOT / module).parent.glob("*.py") if path.name != "__init__.py" and dotted(module) in imported_by(path)]
    return any(has_tests(path.relative_to(ROOT).as_posix()) for path in others)


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"])
def test_paths_in_documents_exist(name: str) -> None:
    paths = [path for path in PATHS.findall((ROOT / name).read_text(encoding="utf-8")) if "<" not in path]
    assert not [path for path in paths if not (ROOT / path).exists() and not (ROOT / f"{path}.py").exists()]


def test_modules_have_tests_where_readers_look() -> None:
    unlisted = [module for module in modules() if not LISTED.keys() & {module, f"{module.rpartition('/')[0]}/"}]
    found = [f"{module}:1" for module in unlisted if not has_tests(module) and not is_part_of_a_tested_module(module)]
    if found:
        pytest.fail("modules without tests of their name, in their folder or in tests_of_modules.txt:\n" + "\n".join(found), pytrace=False)


def test_listed_modules_and_tests_exist() -> None:
    named = [path for tests in LISTED.values() for path in tests]
    assert not [path for path in named if not (ROOT / path).exists()]
