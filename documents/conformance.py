"""docs/conformance.md, a summary for users, and docs/conformance/suites.md, the results of each suite for contributors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tests.conformance.results import APACHE_KAFKA, ODRADEK, Result, read
from tests.conformance.suite import NotRun, Suite
from tests.conformance.suites import NOT_RUN, SUITES

from . import figures

INTRODUCTION = """\
# Conformance

odradek is tested with the test suites of other projects' clients, with those clients themselves, and by comparing its responses with
those of Apache Kafka.

## Test suites of other projects

Each suite is run at a pinned version against a fresh cluster, and its files are only changed where they name the address of the cluster or
start containers. A test that fails counts as failed, whatever the reason. The table also shows the results of Apache Kafka where the same
suite has been run against it with the same settings. [The suites](conformance/suites.md) lists every test that failed or was left out,
with its reason.
"""
SUITES_INTRODUCTION = """\
# The suites

[Conformance](../conformance.md) has a summary of these results.

`make conformance` repeats all runs, and `make conformance SUITES="kafka-python aiokafka"` some of them. It fetches the suites from PyPI,
Go's module proxy, crates.io and GitHub. The results are in tests/conformance/results.json; `make docs` writes this page from them.
"""
CONTENTS = """\
```{toctree}
:hidden:

conformance/suites
```
"""
UNEXPLAINED = "not explained yet"
PAGE, SUITES_PAGE = "docs/conformance.md", "docs/conformance/suites.md"


def pages() -> dict[str, str]:
    """Returns the text of both pages by their paths in the repository."""
    return rendered(SUITES.values(), read(), NOT_RUN)


def rendered(suites: Iterable[Suite], results: Sequence[Result], not_run: Sequence[NotRun]) -> dict[str, str]:
    """Returns both pages for these suites and results. Suites without a result are listed as not run."""
    by_key = {result.key: result for result in results}
    run = [(suite, by_key[suite.name, ODRADEK]) for suite in suites if (suite.name, ODRADEK) in by_key]
    missing = [
        NotRun(suite.name, "declared, but no result has been recorded yet") for suite in suites if (suite.name, ODRADEK) not in by_key
    ]
    sections = [_section(suite, result, by_key.get((suite.name, APACHE_KAFKA))) for suite, result in run]
    summary = [_total(run), _overview(run, by_key), _own_figures()]
    details = [*sections, _not_run([*missing, *not_run])]
    return {PAGE: _joined(INTRODUCTION, summary) + "\n" + CONTENTS, SUITES_PAGE: _joined(SUITES_INTRODUCTION, details)}


def _joined(introduction: str, parts: Iterable[Iterable[str]]) -> str:
    return "\n".join([introduction, *("\n".join(lines).rstrip() + "\n" for lines in parts)])


def _total(run: Sequence[tuple[Suite, Result]]) -> Iterator[str]:
    passed, failed = sum(result.passed for _, result in run), sum(len(result.failed) for _, result in run)
    suites = "1 suite" if len(run) == 1 else f"{len(run)} suites"
    yield f"Of {passed + failed} tests in {suites}, {passed} pass ({passed / max(passed + failed, 1):.1%}).\n"


def _overview(run: Iterable[tuple[Suite, Result]], by_key: dict[tuple[str, str], Result]) -> Iterator[str]:
    yield "| suite | version | passed | failed | skipped by the suite | Apache Kafka | date |"
    yield "|---|---|--:|--:|--:|---|---|"
    for suite, result in run:
        theirs = by_key.get((suite.name, APACHE_KAFKA))
        kafka = "not measured" if theirs is None else f"{theirs.broker_version}: {theirs.passed} passed, {len(theirs.failed)} failed"
        counts = f"{result.passed} | {len(result.failed)} | {len(result.skipped)}"
        link = f"[{suite.name}](conformance/suites.md#{_anchor(suite.name)})"
        yield f"| {link} | {result.version} | {counts} | {kafka} | {result.date} |"


def _section(suite: Suite, result: Result, theirs: Result | None) -> Iterator[str]:
    yield f"## {suite.name}\n"
    nodes = "one node" if suite.nodes == 1 else f"{suite.nodes} nodes"
    yield f"{suite.covers[0].upper()}{suite.covers[1:]}, against {nodes}, in {result.seconds} s:\n"
    yield f"    {result.command}\n"
    yield f"Run on {result.date}, with odradek {result.broker_version} at {result.commit}.\n"
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
        f"In {size.cases} cases of {size.families} families, {size.answers} recorded answers of Apache Kafka are compared with odradek's,\n"
        f"field by field, in each test run. {size.known_differences} differences are known; [APIs and their deviations](apis.md) names\n"
        "them with their reasons.\n"
    )
    yield "## Clients in this project's own tests\n"
    yield (
        "Scenarios with metadata, records in each compression, groups, and nodes that stop and return run with these\n"
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
