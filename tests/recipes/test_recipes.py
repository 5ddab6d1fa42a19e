"""The recipes in docs/recipes pass, fail without the protection that they are about, and can be read at a glance."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from examples.java_home import OLDEST_JAVA, java_home_from_pypi, java_version
from tests.recipes.projects import run_go, run_java, run_python
from tests.recipes.recipes import FOLDER, IN_JAVA_AND_GO, IN_PYTHON, PROTECTIONS, SPARK
from tests.spark.spark_process import spark_home

MAX_LINES = {"py": 50, "java": 25, "go": 25}
TIME_LIMIT_S = 900
FILES = sorted(PROTECTIONS)
"""The names of all recipes."""
LANGUAGES = {"py": run_python, "java": run_java, "go": run_go}

Outcomes = Callable[[str, bool], dict[str, str]]

pytestmark = pytest.mark.timeout(TIME_LIMIT_S)


def test_folder_has_fourteen_recipes_and_three_in_java_and_go() -> None:
    expected = {*(f"{stem}.py" for stem in IN_PYTHON), *(f"{stem}.{ending}" for stem in IN_JAVA_AND_GO for ending in ("java", "go"))}
    assert (len(IN_PYTHON), len(IN_JAVA_AND_GO)) == (14, 3)
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == expected | {"index.md"} == {*FILES, "index.md"}


@pytest.mark.parametrize("name", FILES)
def test_recipe_can_be_read_at_a_glance(name: str) -> None:
    assert len((FOLDER / name).read_text().splitlines()) <= MAX_LINES[name.rpartition(".")[2]]


def test_index_shows_every_recipe_once() -> None:
    included = re.findall(r"^```\{literalinclude\} (\S+)$", (FOLDER / "index.md").read_text(), re.MULTILINE)
    assert sorted(included) == FILES


def test_python_recipes_use_each_client_several_times() -> None:
    texts = [(FOLDER / f"{stem}.py").read_text() for stem in IN_PYTHON]
    for client in ("confluent_kafka", "kafka", "aiokafka"):
        assert sum(f"\nfrom {client} import " in text for text in texts) >= 3


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Returns a function that runs all recipes of a language, with or without their protections, when it is first called."""

    @cache
    def run(language: str, protected: bool) -> dict[str, str]:
        stems = [stem for stem in (IN_PYTHON if language == "py" else IN_JAVA_AND_GO) if stem != SPARK]
        return LANGUAGES[language](stems, tmp_path_factory.mktemp(language), protected=protected)

    return run


every_recipe = pytest.mark.parametrize("name", [name for name in FILES if not name.startswith(SPARK)])


@pytest.mark.slow
@pytest.mark.sockets
@pytest.mark.clients
@every_recipe
def test_recipe_in_a_project_of_its_own_passes(outcomes: Outcomes, name: str) -> None:
    stem, _, language = name.rpartition(".")
    failure = outcomes(language, True)[stem]
    assert not failure, failure


@pytest.mark.slow
@pytest.mark.sockets
@pytest.mark.clients
@every_recipe
def test_recipe_without_its_protection_fails(outcomes: Outcomes, name: str) -> None:
    stem, _, language = name.rpartition(".")
    assert outcomes(language, False)[stem]


@pytest.fixture
def spark_variables(tmp_path: Path) -> dict[str, str]:
    """Returns the variables with which Spark finds Java and this Python, and starts its Python workers fast."""
    import pyspark

    home = {"JAVA_HOME": java_home_from_pypi(tmp_path)} if java_version() < OLDEST_JAVA else {}
    links = spark_home(Path(pyspark.__file__).parent, tmp_path)
    return {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(links), **home}


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("protected", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_spark_job_passes_only_with_its_checkpoint(tmp_path: Path, spark_variables: dict[str, str], protected: bool) -> None:
    failure = run_python([SPARK], tmp_path, protected=protected, variables=spark_variables)[SPARK]
    assert bool(failure) is not protected, failure
