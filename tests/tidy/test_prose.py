"""Checks the language of docstrings, comments and test names in all folders.

The rules are those that a program can check: openings of sentences that hide the subject, error codes as numbers, and the form of test
names. Every failure is listed as `path:line`, so that an editor can jump to it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("broker", "plugin", "protocol", "simulation", "storage", "spark_sink", "tests", "benchmarks", "documents", "examples")
MAX_NAME_LENGTH = 60
OPENINGS = (
    "Who",
    "Whoever",
    "Whom",
    "Whose",
    "What",
    "What's",
    "One that",
    "One who",
    "That which",
    "Those",
    "Nothing",
    "Nobody",
    "Somebody",
)
SENTENCE = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')`]))\s+(?=[\"'(`]?[A-Z])|\n\s*\n\s*|\n\s*[*-] ")
OPENING = re.compile(rf"[\"'(]?({'|'.join(OPENINGS)})\b(?!')", re.IGNORECASE)
NUMBERS = r"-?\d{1,3}(?:(?:, | or | and |, or )-?\d{1,3})*"
ERROR_NUMBER = re.compile(rf"\bwith {NUMBERS}(?=[.,;:)]|$)|\b[Ee]rrors?(?: codes?)? {NUMBERS}\b(?![.,]\d)")
HIDDEN_UNIT = re.compile(r"test_(a|an|the|it|they|who|what|those|nobody|nothing|everybody|everything|somebody)_")


class Prose(NamedTuple):
    """A docstring or a comment; `line` is its first line."""

    line: int
    text: str


def docstrings(source: str) -> Iterator[Prose]:
    """Yields docstrings, including those of attributes."""
    for node in ast.walk(ast.parse(source)):
        for statement in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
                yield Prose(statement.lineno, statement.value.value)


def comments(source: str) -> Iterator[Prose]:
    """Yields comments. Comments on consecutive lines of their own are joined."""
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, text = token.start[0], token.string.lstrip("#!").strip()
        stands_alone = not token.line[: token.start[1]].strip()
        if block and not (stands_alone and line == last + 1):
            yield Prose(first, " ".join(block))
            block = []
        if not block:
            first = line
        block.append(text)
        last = line if stands_alone else 0
    if block:
        yield Prose(first, " ".join(block))


def sentences(prose: Prose) -> Iterator[Prose]:
    """Yields the sentences of a text with their lines."""
    position = 0
    for separator in (*SENTENCE.finditer(prose.text), None):
        end = len(prose.text) if separator is None else separator.start()
        sentence = prose.text[position:end]
        if sentence.strip():
            leading = len(sentence) - len(sentence.lstrip())
            yield Prose(prose.line + prose.text.count("\n", 0, position + leading), sentence.strip())
        position = end if separator is None else separator.end()


def faults(source: str) -> Iterator[Prose]:
    """Yields sentences with a forbidden opening, and texts that contain an error number."""
    for prose in (*docstrings(source), *comments(source)):
        for sentence in sentences(prose):
            found = OPENING.match(sentence.text)
            if found and not sentence.text.endswith("?"):
                yield Prose(sentence.line, f"begins with {found[1]!r}: {sentence.text[:60]}")
            if number := ERROR_NUMBER.search(sentence.text):
                yield Prose(sentence.line, f"error number {number[0]!r}: write the name of the error code")


FOLDERS: dict[str, list[Path]] = defaultdict(list)
"""All modules by their folder."""
for code in CODE:
    for module in sorted((ROOT / code).rglob("*.py")):
        FOLDERS[module.parent.relative_to(ROOT).as_posix()].append(module)


def check(folder: str, rule: Callable[[str], Iterator[Prose]], prefix: str = "") -> None:
    """Fails with a list of all faults that a rule finds in the modules of a folder."""
    paths = [path for path in FOLDERS[folder] if path.name.startswith(prefix) and path != Path(__file__)]
    found = [f"{path.relative_to(ROOT).as_posix()}:{fault.line}: {fault.text}" for path in paths for fault in rule(path.read_text("utf-8"))]
    if found:
        pytest.fail(f"{len(found)} faults:\n" + "\n".join(found), pytrace=False)


@pytest.mark.parametrize("folder", FOLDERS)
def test_prose_of_a_folder_names_its_subjects(folder: str) -> None:
    check(folder, faults)


def wrong_names(source: str) -> Iterator[Prose]:
    """Yields names of test functions that are too long or do not begin with the tested unit."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            if len(node.name) > MAX_NAME_LENGTH:
                yield Prose(node.lineno, f"{node.name} has {len(node.name)} characters, more than {MAX_NAME_LENGTH}")
            if HIDDEN_UNIT.match(node.name) or not re.fullmatch(r"test(_[a-z0-9]+){3,}", node.name):
                yield Prose(node.lineno, f"{node.name} is not test_<unit>_<condition>_<result>")


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder.startswith("tests/")])
def test_names_of_tests_have_unit_condition_and_result(folder: str) -> None:
    check(folder, wrong_names, "test_")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Returns a name.", []),
        ("Who joins waits.", ["begins with 'Who'"]),
        ("Returns it.  What is left stays.", ["begins with 'What'"]),
        ("What happens?", []),
        ("Whether it is so.", []),
        ("Text\n\nNothing else.", ["begins with 'Nothing'"]),
        ("List:\n* one that is gone", ["begins with 'one that'"]),
        ("Raises KafkaError with 3, 29 or 100.", ["error number 'with 3, 29 or 100'"]),
        ("Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION.", []),
        ("Begins with 3 bytes.", []),
        ("The version. With 2, members leave.", []),
        ("Answers error 87 then.", ["error number 'error 87'"]),
    ],
)
def test_faults_of_a_docstring_are_found(text: str, expected: list[str]) -> None:
    assert [fault.text.split(": ")[0] for fault in faults(f'"""{text}"""\n')] == expected


def test_faults_of_comments_and_attributes_have_lines() -> None:
    source = 'x = 1  # a comment\n# A sentence\n# of two lines. Those are found.\ny = 2\n"""Nobody is named."""\n'
    assert [(fault.line, fault.text.split(":")[0]) for fault in faults(source)] == [(5, "begins with 'Nobody'"), (2, "begins with 'Those'")]


def test_wrong_names_of_tests_are_found() -> None:
    source = f"def test_a_name_is_found(): ...\ndef test_unit_state_result(): ...\ndef test_unit(): ...\ndef test_{'x_' * 40}y(): ...\n"
    assert [fault.line for fault in wrong_names(source)] == [1, 3, 4]
