"""Every listing of the documentation runs, or is read by the program that it is for, or has a reason in not_run.py."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from odradek import Cluster
from odradek.broker.cli import _parser
from odradek.broker.commands.serve import cluster_config
from odradek.broker.settings.properties import parse_properties
from tests.documentation.programs import is_run, program, run_listings

from .listings import PROGRAM, ROOT, SESSION, Listing, indented, listings, pages, read
from .not_run import NOT_RUN
from .session import Command, Session, assert_shown, commands

pytestmark = [pytest.mark.sockets, pytest.mark.clients]

RUN_ELSEWHERE = {
    "docs/commands.md": "tests/documentation",
    "docs/containers.md": "tests/image",
    "docs/go.md": "tests/bindings",
    "docs/java.md": "tests/bindings",
    "docs/node.md": "tests/bindings",
    "docs/ruby.md": "tests/bindings",
    "docs/rust.md": "tests/bindings",
    "docs/pytest.md": "tests/plugin",
    "docs/spark.md": "tests/spark",
}
"""Pages whose listings need more than an interpreter and a shell, and the folders of the tests that run them."""
DATA: Mapping[str, Callable[[str], object]] = {"yaml": yaml.safe_load, "toml": tomllib.loads, "properties": parse_properties}
"""Languages of listings that are read, with their parsers. Listings in JSON are seed data."""
SEED_DATA = "json"
OUTPUTS = ("text", SEED_DATA)
"""Languages of listings whose lines cannot be broken: outputs, and records of which each is a line."""


MAX_COLUMNS = 84
"""The width of the site's text in characters of its code."""
INCLUDED = sorted(
    path
    for place in (
        "docs/recipes",
        "examples/services",
        "examples/spring_boot",
        "examples/kafka_streams",
        "tests/explored/small-services/shop.go",
    )
    for path in ((ROOT / place).rglob("*.*") if (ROOT / place).is_dir() else [ROOT / place])
    if path.suffix in (".go", ".java", ".mjs", ".py", ".xml")
)
"""The files that docs/recipes/index.md, docs/testing-a-service.md, docs/java.md and docs/exploring.md include."""


def code_of(listing: Listing) -> list[str]:
    """Returns the lines of a listing that a reader types: those of programs, and the commands of a console without input and output."""
    if listing.language == "console":
        return [line for command in commands(listing) for line in command.text.partition("<<")[0].splitlines()]
    return [] if listing.language in OUTPUTS else listing.text.splitlines()


def session_of(page: str) -> list[Listing]:
    """Returns the listings of a page that belong to its session: files and commands."""
    return [listing for listing in listings(page) if is_run(listing) and (listing.file or listing.language in SESSION)]


@pytest.mark.parametrize("page", [page for page in pages() if program(page).strip() and page not in RUN_ELSEWHERE])
def test_python_listings_of_a_page_are_a_program(page: str) -> None:
    exec(compile(program(page), str(ROOT / page), "exec"), {"__name__": "docs"})


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in pages() if session_of(page) and page not in RUN_ELSEWHERE])
def test_commands_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        for listing in session_of(page):
            if listing.file:
                session.add_file(listing)
                continue
            for command in commands(listing):
                session.run(command)


@pytest.mark.parametrize("page", pages())
def test_programs_that_are_files_are_used(page: str) -> None:
    files = [listing for listing in session_of(page) if listing.file and listing.language not in DATA]
    for listing in files:
        module = re.compile(rf"\b{re.escape(Path(listing.file).stem)}\b")
        users = [other for other in session_of(page) if other != listing and (other in files or not other.file)]
        assert any(module.search(other.text) for other in users), f"{listing}: no command of the page uses it"


@pytest.mark.parametrize("page", pages())
def test_data_of_a_page_can_be_read(page: str) -> None:
    for listing in run_listings(page, *DATA):
        assert DATA[listing.language](listing.text), listing


@pytest.mark.parametrize("page", [page for page in pages() if run_listings(page, SEED_DATA)])
def test_json_of_a_page_is_seed_data(page: str, tmp_path: Path) -> None:
    for listing in run_listings(page, SEED_DATA):
        file = tmp_path / f"{listing.line}.jsonl"
        file.write_text(listing.text, encoding="utf-8")
        with Cluster(data=str(file)) as cluster:
            assert sum(len(cluster.records(topic.name)) for topic in cluster.topics()) == listing.text.count('"value"')


@pytest.mark.parametrize("page", [page for page in pages() if any("image: odradek" in listing.text for listing in listings(page))])
def test_compose_files_of_a_page_configure_a_cluster(page: str) -> None:
    for listing in run_listings(page, "yaml"):
        service = yaml.safe_load(listing.text).get("services", {}).get("odradek")
        if service is not None:
            config = cluster_config(_parser().parse_args(service.get("command", ["serve"])), service["environment"])
            advertised = [f"{each.name}://{each.advertised}" for each in config.nodes[0].listeners]
            assert advertised == service["environment"]["KAFKA_ADVERTISED_LISTENERS"].split(",")


@pytest.mark.parametrize("page", pages())
def test_listings_of_a_page_have_a_language(page: str) -> None:
    known = {PROGRAM, *SESSION, *DATA, SEED_DATA}
    if page in RUN_ELSEWHERE:
        known |= {listing.language for listing in listings(page)} - {""}
    assert not [str(listing) for listing in listings(page) if is_run(listing) and not listing.file and listing.language not in known]
    assert not indented(read(page)), f"{page}: write a fenced block with a language"


@pytest.mark.parametrize("page", pages())
def test_code_of_a_page_fits_its_column(page: str) -> None:
    assert not [line for listing in listings(page) for line in code_of(listing) if len(line) > MAX_COLUMNS]


@pytest.mark.parametrize("path", INCLUDED, ids=lambda path: path.name)
def test_included_file_fits_its_column(path: Path) -> None:
    assert not [line for line in path.read_text(encoding="utf-8").splitlines() if len(line) > MAX_COLUMNS]


def test_listings_that_are_not_run_exist() -> None:
    every = [listing for page in pages() for listing in listings(page)]
    assert not [entry for entry in NOT_RUN if not any(entry.covers(listing) for listing in every)]


@pytest.mark.parametrize(("page", "folder"), RUN_ELSEWHERE.items())
def test_tests_that_run_a_page_name_it(page: str, folder: str) -> None:
    name = re.compile(rf"\b{re.escape(Path(page).name)}\b")
    assert any(name.search(module.read_text(encoding="utf-8")) for module in (ROOT / folder).glob("*.py") if module != Path(__file__))


def test_output_that_differs_is_an_error() -> None:
    assert_shown("a\n...\nz in 2 ms", "a\nb\nc\nz   in 31.5 ms\n")
    assert_shown("a ... z\n...", "a b z\nc\nd\n")
    for actual in ("a\nb\n", "b\nz in 2 ms\n"):
        with pytest.raises(AssertionError, match="the page shows"):
            assert_shown("a\n...\nz in 2 ms", actual)


def test_command_that_fails_is_an_error(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        session.run(Command("export WORD=kept\n", None))
        session.run(Command("echo $WORD\n", "kept\n"))
        with pytest.raises(AssertionError, match="exit code 3"):
            session.run(Command("exit 3\n", None))


def test_console_listing_is_split_into_commands() -> None:
    (listing,) = listings("page", "```console\n$ one \\\n  two\nfirst\nsecond\n$ three\n```\n")
    assert list(commands(listing)) == [Command("one \\\n  two\n", "first\nsecond\n"), Command("three\n", "")]
