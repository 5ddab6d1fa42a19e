"""The declaration of a suite: another project's own tests, and how they are run against a cluster.

Commands and variables may contain the names of `run.names_of`: `{bootstrap_servers}`, `{schema_registry_url}`, `{host}`, `{port}`,
`{source}` (the directory of its files), `{adapters}` (the folder of files that some suites need to find a cluster that already runs),
`{python}` and `{report}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from .frameworks import Framework
from .sources import Source

SETTINGS = {
    "auto.create.topics.enable": "true",
    "num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
"""The settings that suites expect of the broker that they start themselves, unless they declare others."""


@dataclass(frozen=True)
class Suite:
    """A suite. `left_out` and `failures` give the reasons of tests, by patterns of their names."""

    name: str
    version: str
    covers: str
    source: Source
    framework: Framework
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    packages: Sequence[str] = ()
    """The Python packages with which it runs, in a virtual environment of its own."""
    prepare: Sequence[Sequence[str]] = ()
    """Commands that run once in the directory of its files."""
    needs: Sequence[str] = ()
    """Programs that must be installed, in addition to those of its source."""
    nodes: int = 1
    first_id: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The reasons of tests that are not started."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """The reasons of tests that fail with odradek, which are found by reading the test."""
    time_limit_s: int = 1800

    def reason_of_failure(self, test: str) -> str | None:
        """Returns the reason why a test fails; None if it has none."""
        return next((reason for pattern, reason in self.failures.items() if fnmatchcase(test, pattern)), None)


@dataclass(frozen=True)
class NotRun:
    """A suite that is not run, with the reason."""

    name: str
    reason: str
