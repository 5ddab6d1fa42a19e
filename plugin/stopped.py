"""A test that stops a cluster which it shares with other tests: it gets a warning, and the others get a new cluster.

The new cluster is started before the next test that uses it. The fixtures that depend on the cluster are set up again too, because they
may hold its addresses or clients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .. import Cluster


class KafkaClusterStoppedWarning(pytest.PytestWarning):
    """A test has stopped a cluster that it shares with other tests."""


def warn_if_stopped(cluster: Cluster, item: pytest.Item, what: str) -> None:
    """Warns if a test has stopped a cluster that other tests use too. `what` names the cluster."""
    if not cluster.is_running:
        advice = "the next test that uses it gets a new one; to stop a cluster, take one from make_kafka_cluster"
        item.warn(KafkaClusterStoppedWarning(f"{item.nodeid} has stopped {what}, which tests share; {advice}"))


def renew(item: pytest.Item, fixture: str) -> None:
    """Tears a fixture down if its cluster was stopped, with the fixtures that use it, so that the setup of the test makes new ones."""
    request = getattr(item, "_request", None)
    definitions = item._fixtureinfo.name2fixturedefs.get(fixture, ()) if request is not None else ()  # type: ignore[attr-defined]  # noqa: SLF001  (pytest has no public name for it)
    for definition in definitions:
        if definition.cached_result is not None and (cluster := definition.cached_result[0]) is not None and not cluster.is_running:
            definition.finish(request)
