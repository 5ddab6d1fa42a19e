"""Projects with tests of their own, which use the plugin as a user's project does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/pytest.md"
OPTIONS = ("-p", "no:cacheprovider", "--import-mode=importlib")
IN_PROCESS = ("-p", "no:asyncio")
"""pytest-asyncio warns while it is configured, and warnings are errors in this process."""
WORKER = "PYTEST_XDIST_WORKER"
"""The variable with the name of the worker that runs these tests, which is none of the project."""
TITLE = "*- kafka exchanges -*"
"""The line above the section of the plugin in a report."""


def run(pytester: pytest.Pytester, tests: str, *options: str, ini: str = "") -> pytest.RunResult:
    """Runs tests in a project of their own, in this process."""
    _write(pytester, tests, ini)
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(WORKER, raising=False)
        return pytester.runpytest_inprocess(*OPTIONS, *IN_PROCESS, *options)


def run_in_subprocess(pytester: pytest.Pytester, tests: str, *options: str, ini: str = "") -> pytest.RunResult:
    """Runs tests in a project of their own, in another process."""
    _write(pytester, tests, f"asyncio_default_fixture_loop_scope = function\n{ini}")
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(WORKER, raising=False)
        return pytester.runpytest_subprocess(*OPTIONS, *options)


def section(result: pytest.RunResult) -> str:
    """Returns the section of the plugin in the report of the only test that has failed."""
    (text,) = result.stdout.str().split("- kafka exchanges -")[1:]
    return text


def blocks(language: str, before: str = "") -> list[str]:
    """Returns the blocks of docs/pytest.md in a language, or those that come after a line."""
    return re.findall(rf"{before}```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def bare(line: str) -> str:
    """Returns a line without what differs from run to run: numbers, digests, spaces, and the lengths of arrows."""
    return re.sub(r"-[0-9a-f]{8}-|[\d\s─╌.]", "", line)


def _write(pytester: pytest.Pytester, tests: str, ini: str) -> None:
    pytester.makepyfile(test_project=tests)
    pytester.makeini(f"[pytest]\n{ini}")
