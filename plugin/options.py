"""The options of the plugin's clusters: from ini files, the command line, and the mark `kafka`."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from .. import Cluster

MARK = "kafka"
MARK_OPTIONS = ("nodes", "topics", "settings", "as_version", "users", "tls", "data", "from_log_dirs", "freeze", "fault")
"""The options of the mark: arguments of `Cluster`, `freeze`, and `fault`."""
SCOPES = ("function", "class", "module", "package", "session")
INI_OPTIONS = {
    "kafka_nodes": ("string", "number of nodes of kafka_cluster (default: 2)"),
    "kafka_topics": ("linelist", "topics of kafka_cluster, one a line: NAME or NAME:PARTITIONS"),
    "kafka_settings": ("linelist", "broker settings of kafka_cluster, one a line: KEY=VALUE"),
    "kafka_as_version": ("string", "release of Kafka that kafka_cluster emulates, such as 3.9"),
    "kafka_data": ("linelist", "seed data of kafka_cluster: files, folders or patterns"),
    "kafka_reset": ("bool", "whether kafka_cluster returns to its state after start before each test (default: no)"),
    "kafka_timeout": ("string", "seconds after which a test with a cluster fails with the requests that wait (default: none)"),
    "kafka_scope": ("string", f"scope of kafka_cluster: {', '.join(SCOPES)} (default: session)"),
}
EXPLORE_OPTIONS: dict[str, dict[str, Any]] = {
    "--kafka-explore": {"action": "store_true", "help": "look for faults under which tests with a cluster do not pass"},
    "--kafka-explore-only": {"metavar": "POINT", "help": "run tests with this fault only, as the summary of --kafka-explore names it"},
    "--kafka-explore-damage": {"action": "store_true", "help": "damage the data of tests with a cluster instead; the tests have to fail"},
    "--kafka-explore-budget": {"metavar": "TIME", "help": "how long each test is explored, such as 5m (default: 60s)"},
    "--kafka-explore-depth": {"type": int, "choices": (1, 2), "metavar": "N", "help": "2: also try pairs of faults (default: 1)"},
    "--kafka-explore-seed": {"type": int, "metavar": "SEED", "help": "the seed from which pairs are drawn (default: a new one)"},
    "--kafka-explore-report": {"metavar": "FILE", "help": "write what was found to a page (FILE.html) or for programs (FILE.json)"},
}
"""The options of exploration with the arguments of `addoption`."""
EXPLORING_OPTIONS = ("--kafka-explore", "--kafka-explore-only", "--kafka-explore-damage")
"""The options that each ask for the exploration of all tests."""


class ClusterOptions(NamedTuple):
    """Arguments of `Cluster` by their names, and whether the time of the cluster stands still during each test."""

    arguments: Mapping[str, Any]
    freeze: bool = False

    def cluster(self) -> Cluster:
        """Returns the cluster, which is not started."""
        from .. import Cluster

        return Cluster(**self.arguments)


def add_options(parser: pytest.Parser) -> None:
    """Adds the options to the command line and to ini files."""
    for name, (kind, text) in INI_OPTIONS.items():
        parser.addini(name, text, type=kind)  # type: ignore[arg-type]  # a literal
    group = parser.getgroup("kafka", "Kafka clusters (odradek)")
    group.addoption("--kafka-nodes", type=int, metavar="N", help=INI_OPTIONS["kafka_nodes"][1])
    group.addoption("--kafka-set", action="append", default=[], metavar="KEY=VALUE", help="a broker setting of kafka_cluster; repeatable")
    group.addoption("--kafka-as-version", metavar="VERSION", help=INI_OPTIONS["kafka_as_version"][1])
    group.addoption("--kafka-reset", action="store_true", default=None, help="reset kafka_cluster before each test")
    group.addoption("--kafka-timeout", metavar="SECONDS", help=INI_OPTIONS["kafka_timeout"][1])
    for name, keywords in EXPLORE_OPTIONS.items():
        group.addoption(name, **keywords)
    group.addoption("--kafka-artifacts", metavar="DIR", help="folder for the capture (.pcapng) and the diagram (.html) of failed tests")
    group.addoption("--kafka-seed", type=int, metavar="N", help="run only this seed of tests with @odradek.simulation, to replay a failure")
    group.addoption("--kafka-seeds", type=int, metavar="N", help="number of seeds of tests with @odradek.simulation")


def fault_of(marks: Iterable[pytest.Mark]) -> str:
    """Returns the fault of the first mark that has one, "" if none has. Raises UsageError if a mark that names a cluster has one."""
    for mark in marks:
        if "fault" in mark.kwargs:
            if "name" in mark.kwargs:
                raise pytest.UsageError("@pytest.mark.kafka: fault belongs to a mark without name, because it hits the test, not a cluster")
            return str(mark.kwargs["fault"])
    return ""


def defaults(config: pytest.Config) -> ClusterOptions:
    """Returns the options of the command line, which take precedence, and of ini files. Raises UsageError for an invalid one."""
    nodes = config.getoption("--kafka-nodes")
    return ClusterOptions(
        {
            "nodes": _number("kafka_nodes", config.getini("kafka_nodes") or "2") if nodes is None else nodes,
            "topics": dict(map(_topic, config.getini("kafka_topics"))),
            "settings": dict(map(_setting, [*config.getini("kafka_settings"), *config.getoption("--kafka-set")])),
            "as_version": config.getoption("--kafka-as-version") or config.getini("kafka_as_version") or None,
            "users": {},
            "tls": False,
            "data": [str(config.rootpath / place) for place in config.getini("kafka_data")],
        }
    )


def resets(config: pytest.Config) -> bool:
    """Returns whether clusters are reset before each test."""
    chosen = config.getoption("--kafka-reset")
    return bool(config.getini("kafka_reset") if chosen is None else chosen)


def timeout_s(config: pytest.Config) -> float | None:
    """Returns the time limit of a test with a cluster, None if there is none. Raises UsageError for an invalid one."""
    text = str(config.getoption("--kafka-timeout") or config.getini("kafka_timeout") or "")
    try:
        limit_s = float(text) if text else None
    except ValueError:
        limit_s = 0
    if limit_s is not None and not 0 < limit_s <= threading.TIMEOUT_MAX:
        raise pytest.UsageError(f"kafka_timeout: must be a number of seconds above 0, not {text!r}")
    return limit_s


def artifacts_folder(config: pytest.Config) -> Path | None:
    """Returns the folder for the files of failed tests, None if there is none."""
    folder = config.getoption("--kafka-artifacts")
    return None if folder is None else config.invocation_params.dir / folder


def scope(config: pytest.Config) -> str:
    """Returns the scope of `kafka_cluster`. Raises UsageError for an unknown one."""
    chosen = str(config.getini("kafka_scope") or "session")
    if chosen not in SCOPES:
        raise pytest.UsageError(f"kafka_scope: must be one of {', '.join(SCOPES)}, not {chosen!r}")
    return chosen


def named_options(options: ClusterOptions, marks: Iterable[pytest.Mark]) -> dict[str, ClusterOptions]:
    """Returns options with those of marks, by the names that the marks give to clusters. Raises UsageError as `with_marks`."""
    found: dict[str, list[pytest.Mark]] = {}
    for mark in marks:
        if "name" in mark.kwargs:
            found.setdefault(mark.kwargs["name"], []).append(mark)
    return {name: with_marks(options, each) for name, each in found.items()}


def with_marks(options: ClusterOptions, marks: Iterable[pytest.Mark]) -> ClusterOptions:
    """Returns options with those of marks, of which the first takes precedence; settings and topics are added.

    Raises UsageError for an unknown option.
    """
    for mark in reversed(list(marks)):
        known = [*MARK_OPTIONS, "name"]
        given: dict[str, Any] = {name: value for name, value in mark.kwargs.items() if name != "name"}
        if mark.args or (unknown := [name for name in given if name not in known]):
            wrong = mark.args[0] if mark.args else unknown[0]
            raise pytest.UsageError(f"@pytest.mark.kafka: unknown option {wrong!r}; the options are {', '.join(known)}")
        given.pop("fault", None)  # of the test, not of its cluster, which tests share
        freeze = given.pop("freeze", options.freeze)
        added: dict[str, Any] = {name: {**options.arguments[name], **given[name]} for name in ("settings", "topics") if name in given}
        options = ClusterOptions({**options.arguments, **given, **added}, freeze)
    return options


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise pytest.UsageError(f"{name}: must be a number of at least 1, not {text!r}")
    return int(text)


def _topic(line: str) -> tuple[str, int]:
    name, _, partitions = line.partition(":")
    return name, _number(f"kafka_topics: {name}", partitions) if partitions else 1


def _setting(line: str) -> tuple[str, str]:
    name, separator, value = line.partition("=")
    if not separator:
        raise pytest.UsageError(f"kafka_settings: write KEY=VALUE, not {line!r}")
    return name.strip(), value.strip()
