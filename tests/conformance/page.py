"""docs/conformance.md: the results of all suites, each test that failed or was left out, and this project's own figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from . import figures
from .results import APACHE_KAFKA, ODRADEK, Result, read
from .suite import NotRun, Suite
from .suites import NOT_RUN, SUITES

INTRODUCTION = """\
# Conformance

This page lists the test suites of other projects that have been run against odradek, with their results. Each suite is run at a pinned
version against a fresh cluster. Its files are only changed where they name the address of the cluster or start containers. A test that
fails counts as failed, whatever the reason. The table also shows the results of Apache Kafka where the same suite has been run against it
with the same settings.

`make conformance` repeats all runs, and `make conformance SUITES="kafka-python aiokafka"` some of them. It fetches the suites from PyPI,
Go's module proxy, crates.io and GitHub. The results are in tests/conformance/results.json; `make docs` writes this page from them.
"""
UNEXPLAINED = "not explained yet"


def as_markdown() -> str:
    """Returns the page."""
    return rendered(SUITES.values(), read(), NOT_RUN)


def rendered(suites: Iterable[Suite], results: Sequence[Result], not_run: Sequence[NotRun]) -> str:
    """Returns the page for these suites and results. Suites without a result are listed as not run."""
    by_key = {result.key: result for result in results}
    run = [(suite, by_key[suite.name, ODRADEK]) for suite in suites if (suite.name, ODRADEK) in by_key]
    missing = [
        NotRun(suite.name, "declared, but no result has been recorded yet") for suite in suites if (suite.name, ODRADEK) not in by_key
    ]
    sections = [_section(suite, result, by_key.get((suite.name, APACHE_KAFKA))) for suite, result in run]
    parts = [_overview(run, by_key), *sections, _not_run([*missing, *not_run]), _own_figures()]
    return "\n".join([INTRODUCTION, *("\n".join(lines).rstrip() + "\n" for lines in parts)])


def _overview(run: Iterable[tuple[Suite, Result]], by_key: dict[tuple[str, str], Result]) -> Iterator[str]:
    yield "| suite | version | passed | failed | skipped by the suite | Apache Kafka | date, odradek |"
    yield "|---|---|--:|--:|--:|---|---|"
    for suite, result in run:
        theirs = by_key.get((suite.name, APACHE_KAFKA))
        kafka = "not measured" if theirs is None else f"{theirs.broker_version}: {theirs.passed} passed, {len(theirs.failed)} failed"
        when = f"{result.date}, {result.broker_version} at {result.commit}"
        counts = f"{result.passed} | {len(result.failed)} | {len(result.skipped)}"
        yield f"| [{suite.name}](#{_anchor(suite.name)}) | {result.version} | {counts} | {kafka} | {when} |"


def _section(suite: Suite, result: Result, theirs: Result | None) -> Iterator[str]:
    yield f"## {suite.name}\n"
    nodes = "one node" if suite.nodes == 1 else f"{suite.nodes} nodes"
    yield f"{suite.covers[0].upper()}{suite.covers[1:]}, against {nodes}, in {result.seconds} s:\n"
    yield f"    {result.command}\n"
    if result.failed:
        yield "| failed test | Apache Kafka | reason |\n|---|---|---|"
        yield from (
            f"| `{_cell(test)}` | {_there(test, theirs)} | {suite.reason_of_failure(test) or UNEXPLAINED} |" for test in result.failed
        )
        yield ""
    if theirs is not None and (only_theirs := {*theirs.failed} - {*result.failed}):
        yield f"On Apache Kafka only, {len(only_theirs)} failed, which tests/conformance/results.json names.\n"
    if suite.left_out:
        yield "| left out | reason |\n|---|---|"
        yield from (f"| `{_cell(test)}` | {reason} |" for test, reason in suite.left_out.items())
        yield ""
    if result.skipped:
        yield "| skipped by the suite | its reason |\n|--:|---|"
        counted = Counter(result.skipped.values())
        yield from (f"| {count} | {_cell(reason) or 'none given'} |" for reason, count in sorted(counted.items()))
        yield ""
    if not result.failed:
        yield "No test failed.\n"


def _not_run(suites: Sequence[NotRun]) -> Iterator[str]:
    yield "## Suites that were not run\n"
    yield "| suite | reason |\n|---|---|"
    yield from (f"| {each.name} | {each.reason} |" for each in suites)


def _own_figures() -> Iterator[str]:
    size = figures.comparison()
    yield "## Comparison with Apache Kafka, response by response\n"
    yield (
        f"The [differential suite](../CONTRIBUTING.md#the-differential-suite) has {size.cases} cases in {size.families} families. "
        f"Apache Kafka's\n{size.answers} recorded answers are compared with odradek's field by field in each test run. Every difference "
        "is fixed, or has a\nline with its reason in tests/differential/known_differences.txt, which has "
        f"{size.known_differences} lines.\n"
    )
    yield "## Clients in this project's own tests\n"
    yield (
        "The scenarios in tests/clients (metadata, records in each compression, groups, nodes that stop and return) run with these\n"
        "clients. Older versions, and newer ones that behave as if the broker were older, also run with `as_version`.\n"
    )
    yield "| client | versions |\n|---|---|"
    yield from (f"| {name} | {versions} |" for name, versions in figures.clients())


def _there(test: str, theirs: Result | None) -> str:
    if theirs is None:
        return "not measured"
    return "fails, too" if test in theirs.failed else "does not fail"


def _anchor(heading: str) -> str:
    """Returns the anchor of a heading, as GitHub and site generators form it."""
    return "".join(letter for letter in heading.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
