"""Checks of the repository: packages, sizes of files and functions, imports, README."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("broker", "plugin", "protocol", "simulation", "storage", "spark_sink")
TABLES = {"broker/settings/rows.py"}  # data, one row on each line


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


CODE_FILES = [pytest.param(path, id=name_of(path)) for path in sources(*CODE)]


def test_packages_are_all_installed() -> None:
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {path.parent.relative_to(ROOT) for path in sources(*CODE) if path.name == "__init__.py"}
    expected = {"pyspark_odradek" if folder == Path("spark_sink/autoload") else "odradek." + ".".join(folder.parts) for folder in folders}
    assert set(configured) == expected | {"odradek"}


@pytest.mark.parametrize(("section", "command"), [("Quick start", "make run"), ("Tests", "make test")])
def test_readme_sections_contain_one_command(section: str, command: str) -> None:
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL) == [("shell", f"{command}\n")]


@pytest.mark.parametrize("path", CODE_FILES)
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert name_of(path) in TABLES or text.count("\n") <= 480
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = [node.name for node in functions if (node.end_lineno or 0) - node.lineno > 60]
    assert not long


def test_modules_of_protocol_and_storage_are_in_layers() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {
        f"{container}.{name}".removeprefix(".")
        for contract in contracts
        for container in contract.get("containers", [""])
        for layer in contract.get("layers", ())
        for name in re.split(r"[ |:]+", layer)
    }
    missing = []
    for path in sources("protocol", "storage"):
        parts = ("odradek", *path.relative_to(ROOT).with_suffix("").parts)
        if path.stem != "__init__" and not layers & {".".join(parts[:length]) for length in range(1, len(parts) + 1)}:
            missing.append(name_of(path))
    assert not missing


def test_modules_have_no_catch_all_names() -> None:
    assert not [
        path for path in sources(*CODE, "tests", "benchmarks", "documents") if re.search(r"util|helper|manager|misc|common_", path.stem)
    ]


def test_tests_do_not_sleep() -> None:
    sleeping = re.compile(r"time\.sleep|asyncio\.sleep\((?!0\))")
    wait_for_a_jvm = {ROOT / "tests/apache_kafka.py", ROOT / "tests/differential/clusters.py", Path(__file__)}
    in_virtual_time = {*sources("tests/simulation", "tests/campaign"), ROOT / "tests/plugin/test_simulations.py"}
    allowed = wait_for_a_jvm | in_virtual_time
    assert not [name_of(path) for path in sources("tests") if path not in allowed and sleeping.search(path.read_text())]


def module_name(path: Path) -> str:
    """Returns the full name under which a file of the code folders is imported."""
    return ".".join(("odradek", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def imported_names(path: Path) -> set[str]:
    """Returns the full names that a file imports, with the modules that it imports them from and the packages of these modules."""
    package = ".".join(("odradek", *path.parent.relative_to(ROOT).parts))
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def packages_imported_by(path: Path) -> set[str]:
    """Returns the top-level packages of a file's absolute imports that are not of the standard library."""
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom) and node.level == 0}
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names


def test_core_imports_its_dependencies_and_optional_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    dependencies = {re.split(r"\W", requirement)[0] for requirement in project["dependencies"]}
    imported = set().union(*map(packages_imported_by, sources("broker", "protocol", "storage")))
    assert imported == dependencies | {"argcomplete", "cryptography", "google", "numpy", "trio", "uvloop"}  # google: protobuf


def names_in_strings(path: Path) -> set[str]:
    """Returns the strings in a file, among which are the names of the modules that it imports by name."""
    return {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_modules_are_all_imported_by_the_product() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    used = {target.partition(":")[0] for target in [*project["scripts"].values(), *project["entry-points"]["pytest11"].values()]}
    used |= {f"odradek.broker.commands.{name}" for name in names_in_strings(ROOT / "broker/cli.py")}
    used |= {f"odradek.broker.handlers.{name}" for name in names_in_strings(ROOT / "broker/api/handler_families.py")}
    used |= {"odradek.spark_sink.listener"}  # users import it: docs/spark.md
    for path in [ROOT / "__init__.py", *sources(*CODE)]:
        used |= imported_names(path) - {module_name(path)}
    assert not sorted({module_name(path) for path in sources(*CODE) if path.stem != "__init__"} - used)


def test_modules_import_nothing_from_test_files() -> None:
    test_file = re.compile(r"(?:^|\.)test_\w+\.")
    importing = {name_of(path): list(filter(test_file.search, imported_names(path))) for path in sources("tests", "documents")}
    assert not {path: names for path, names in importing.items() if names}


def test_files_contain_no_paths_of_a_machine() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    paths = re.compile(r"/(?:work|root|home)/\w")
    own = name_of(Path(__file__))
    readable = [ROOT / name for name in tracked if name != own and (ROOT / name).is_file() and (ROOT / name).suffix not in (".jar", ".png")]
    assert not [name_of(path) for path in readable if paths.search(path.read_text(errors="ignore"))]
