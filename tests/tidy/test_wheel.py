"""Tests of the package as users have it: installed from the wheel, as a clone, or as a zip on the path."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

import odradek

pytestmark = pytest.mark.sockets  # in child processes
ROOT = Path(__file__).parents[2]
PYTHON = [sys.executable, "-m"]
CODE = ("broker", "plugin", "protocol", "simulation", "spark_sink", "storage")
SERVES = """
import odradek, pyspark_odradek, socket
assert odradek.__file__.startswith(ORIGIN), odradek.__file__
from odradek import Cluster, __version__
with Cluster(nodes=2, topics={"orders": 4}) as cluster:
    for address in cluster.bootstrap_servers.split(","):
        host, port = address.split(":")
        socket.create_connection((host, int(port))).close()
print("served", __version__)
"""
THEIRS = """
import broker, storage
assert (broker.WHOSE, storage.WHOSE) == ("theirs", "theirs")
"""
SERVES_THE_PAGE = """
import odradek, urllib.request
assert odradek.__file__.startswith(ORIGIN), odradek.__file__
from odradek.broker.controls.http.page_files import page_resources
with odradek.Cluster(nodes=1, control="127.0.0.1:0") as cluster:
    for path in page_resources():
        assert urllib.request.urlopen(f"http://{cluster.control}{path}").read()
print("read the page")
"""
READS_FROM_SPARK = """
import odradek, sys
assert odradek.__file__.startswith(ORIGIN), odradek.__file__
from odradek.spark_sink import OdradekDataSource
from pyspark_odradek import DefaultSource
assert DefaultSource is OdradekDataSource
assert "odradek.broker" not in sys.modules
print("read", OdradekDataSource.name())
"""


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([*PYTHON, "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(wheel)], check=True)
    return folder


def run(program: str, origin: Path, *, cwd: Path, path: list[Path], options: tuple[str, ...] = ()) -> str:
    """Returns what the program printed; `origin` is the expected location of the package odradek."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    code = f"ORIGIN = {str(origin)!r}\n{program}"
    done = subprocess.run([sys.executable, *options, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_contains_exactly_the_code(wheel: Path, source: Path) -> None:
    expected = {f"odradek/{path.relative_to(source).as_posix()}" for folder in CODE for path in (source / folder).rglob("*.py")}
    expected -= {"odradek/spark_sink/autoload/__init__.py"}
    page = source / "broker/controls/http/page"
    expected |= {f"odradek/{path.relative_to(source).as_posix()}" for path in page.rglob("*") if path.is_file()}
    expected |= {"odradek/__init__.py", "odradek/__main__.py", "odradek/py.typed", "pyspark_odradek/__init__.py"}
    with ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if ".dist-info/" not in name} == expected


@pytest.mark.slow
def test_page_is_served_from_wheel_clone_and_zip(installed: Path, source: Path, tmp_path: Path) -> None:
    assert run(SERVES_THE_PAGE, installed, cwd=tmp_path, path=[installed]) == "read the page\n"
    assert run(SERVES_THE_PAGE, source, cwd=source.parent, path=[source.parent, installed]) == "read the page\n"
    archive = Path(shutil.make_archive(str(tmp_path / "odradek"), "zip", installed))
    assert run(SERVES_THE_PAGE, archive, cwd=tmp_path, path=[archive]) == "read the page\n"


def test_wheel_beside_packages_of_the_same_names_serves(installed: Path, tmp_path: Path) -> None:
    for name in ("broker", "storage"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('WHOSE = "theirs"\n')
    assert run(THEIRS + SERVES, installed, cwd=tmp_path, path=[tmp_path, installed]) == f"served {odradek.__version__}\n"


def test_wheel_beside_any_folder_named_odradek_serves(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "odradek" / "data").mkdir(parents=True)
    assert run(SERVES, installed, cwd=tmp_path, path=[tmp_path, installed]) == f"served {odradek.__version__}\n"


def test_wheel_in_a_clones_root_serves(installed: Path, source: Path) -> None:
    assert run(SERVES, installed, cwd=source, path=[installed]) == f"served {odradek.__version__}\n"


def test_clone_beside_a_script_serves(installed: Path, source: Path) -> None:
    assert run(SERVES, source, cwd=source.parent, path=[source.parent, installed]) == f"served {odradek.__version__}\n"


@pytest.mark.slow
def test_editable_install_with_the_clone_beside_a_script_serves(source: Path, tmp_path: Path) -> None:
    clone, environment = tmp_path / "odradek", tmp_path / "environment"
    shutil.copytree(source, clone)
    install = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(environment), "--editable", str(clone)]
    subprocess.run([*PYTHON, *install], check=True, capture_output=True)
    dependencies = sysconfig.get_path("purelib")
    program = f"import site, sys; site.addsitedir({str(environment)!r}); sys.path.append({dependencies!r})\n{SERVES}"
    for folder in (tmp_path, clone, environment):  # -S disables site, because this interpreter may have its own editable install
        assert run(program, clone, cwd=folder, path=[], options=("-S",)) == f"served {odradek.__version__}\n"


@pytest.mark.slow
def test_zip_of_the_package_has_the_data_source(installed: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "odradek"), "zip", installed))
    assert run(READS_FROM_SPARK, archive, cwd=tmp_path, path=[archive]) == "read odradek\n"
    assert run(SERVES, archive, cwd=tmp_path, path=[archive]) == f"served {odradek.__version__}\n"


def test_import_loads_neither_event_loop_nor_broker(installed: Path, tmp_path: Path) -> None:
    program = 'import odradek, sys; odradek.__version__; print({"asyncio", "importlib.metadata", "odradek.broker"} & set(sys.modules))'
    assert run(program, installed, cwd=tmp_path, path=[installed]) == "set()\n"


@pytest.mark.slow
def test_mypy_finds_the_exported_names(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is installed by `make test-all` and `make lint`")
    (tmp_path / "program.py").write_text(
        "from odradek import Cluster, __version__\nreveal_type(Cluster().bootstrap_servers)\nfrom odradek import Nothing\n"
    )
    check = [*PYTHON, "mypy", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", "--follow-imports=silent", "program.py"]
    done = subprocess.run(check, cwd=tmp_path, env=os.environ | {"MYPYPATH": str(installed)}, capture_output=True, text=True, check=False)
    assert re.search(r'Revealed type is "(builtins\.)?str"', done.stdout), done.stdout
    assert 'Module "odradek" has no attribute "Nothing"' in done.stdout, done.stdout


def test_extras_are_the_documented_ones() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) == {
        "uvloop",
        "spark",
        "spark-avro",
        "tls",
        "schema-registry",
        "completion",
        "executable",
        "dist",
        "test",
        "docs",
        "dev",
    }
