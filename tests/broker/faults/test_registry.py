"""Faults of the schema registry."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from odradek import Cluster, InvalidControl


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, schema_registry=True) as running:
        yield running


def answer(cluster: Cluster, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    """Returns the status and the body of an answer."""
    request = Request(f"{cluster.schema_registry_url}{path}", body, {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=30) as response:
            return response.status, response.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def status(cluster: Cluster, path: str, body: bytes | None = None) -> int:
    return answer(cluster, path, body)[0]


def test_subject_is_refused_a_number_of_times(cluster: Cluster) -> None:
    fault = cluster.fault(api="SchemaRegistry", subject="orders-*", status=503, times=2)
    paths = ["/subjects/orders-value/versions", "/subjects/other/versions", "/config/orders-value", "/subjects/orders-value/versions"]
    assert [status(cluster, path) for path in paths] == [503, 404, 503, 404]
    assert (fault.hits, fault.exchanges[0].api, fault.exchanges[0].topics) == (2, "SchemaRegistry", ("orders-value",))


def test_error_code_is_answered_and_nothing_is_changed(cluster: Cluster) -> None:
    with cluster.fault(api="SchemaRegistry", path="/subjects/*/versions", error="50003"):
        code, body = answer(cluster, "/subjects/orders-value/versions", b'{"schema": "\\"int\\""}')
        assert (code, b'"error_code":50003' in body) == (500, True)
    assert cluster.schemas.subjects() == []


def test_delay_follows_the_clock_of_the_cluster(cluster: Cluster) -> None:
    cluster.clock.freeze()
    fault = cluster.fault(api="SchemaRegistry", path="/subjects", delay_ms=3_600_000)
    statuses: list[int] = []
    thread = threading.Thread(target=lambda: statuses.append(status(cluster, "/subjects")))
    thread.start()
    cluster.wait_for_fault(fault.number, hits=1)
    assert statuses == []
    cluster.clock.advance("1h")
    thread.join()
    assert statuses == [200]


def test_removed_fault_releases_its_requests(cluster: Cluster) -> None:
    cluster.clock.freeze()
    fault = cluster.fault(api="SchemaRegistry", delay_ms=1000)
    thread = threading.Thread(target=lambda: status(cluster, "/subjects"))
    thread.start()
    cluster.wait_for_fault(fault.number, hits=1)
    fault.remove()
    thread.join(30)
    assert not thread.is_alive()


def test_brokers_are_not_hit(cluster: Cluster) -> None:
    cluster.fault(api="SchemaRegistry", status=500)
    cluster.produce("orders", ["one"])
    assert status(cluster, "/subjects") == 500


@pytest.mark.parametrize(("options", "parameter"), [
    ({"api": "SchemaRegistry"}, "status"),
    ({"api": "SchemaRegistry", "status": 200}, "status"),
    ({"api": "SchemaRegistry", "status": 600}, "status"),
    ({"api": "SchemaRegistry", "status": 500, "error": "50003"}, "status"),
    ({"api": "SchemaRegistry", "error": "NOT_LEADER_OR_FOLLOWER"}, "error"),
    ({"api": "SchemaRegistry", "status": 500, "topic": "orders"}, "topic"),
    ({"api": "Produce", "subject": "orders"}, "subject"),
    ({"status": 503}, "status"),
])  # fmt: skip
def test_invalid_options_are_refused(cluster: Cluster, options: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InvalidControl) as raised:
        cluster.fault(**options)
    assert raised.value.parameter == parameter
