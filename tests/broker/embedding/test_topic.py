"""Handles of topics write and read records in formats."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator

import pytest

from odradek import AsyncCluster, Cluster, Format, formats
from odradek.broker.control_errors import ControlTimeout, InvalidControl

pytestmark = pytest.mark.sockets


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"orders": 2}) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Cluster:
    running.reset()
    return running


def test_topic_in_json_returns_what_was_written(cluster: Cluster) -> None:
    orders = cluster.topic("orders", key=formats.text, value=formats.json)
    place = orders.produce({"id": 1, "für": [None, 1.5]}, key="kß", headers={"trace": "1"}, partition=1, timestamp=5)
    assert (place.partition, place.offset) == (1, 0)
    (record,) = orders.records()
    assert (record.key, record.value, record.headers) == ("kß", {"id": 1, "für": [None, 1.5]}, (("trace", b"1"),))
    assert (record.partition, record.timestamp, record.transaction) == (1, 5, None)
    assert cluster.records("orders")[0].value == '{"id":1,"für":[null,1.5]}'.encode()


def test_topic_without_format_holds_bytes(cluster: Cluster) -> None:
    orders = cluster.topic("orders")
    orders.produce_all([b"bytes", "text", ("key", None)], partition=0)
    assert [(each.key, each.value) for each in orders.records()] == [(None, b"bytes"), (None, b"text"), (b"key", None)]
    with pytest.raises(TypeError, match="must be bytes or str, not dict; name a format"):
        orders.produce({"id": 1})


def test_topic_with_format_of_the_user(cluster: Cluster) -> None:
    orders = cluster.topic("orders", value=Format(pickle.dumps, pickle.loads))
    orders.produce_all([("k", {1, 2}), ("k", None)])
    assert [each.value for each in orders.records()] == [{1, 2}, None]


def test_topic_waits_until_records_are_there(cluster: Cluster) -> None:
    orders = cluster.topic("orders", value=formats.text)
    with pytest.raises(ControlTimeout, match="topic 'orders' has 0 of 1 record:"):
        orders.wait_for(1, timeout_s=0)
    orders.produce("a")
    assert [each.value for each in orders.wait_for(1)] == ["a"]


def test_topic_that_does_not_exist_is_created_by_produce(cluster: Cluster) -> None:
    new = cluster.topic("new", value=formats.text)
    with pytest.raises(InvalidControl, match="there is no topic 'new'"):
        new.records()
    new.produce("first")
    assert [each.value for each in new.records()] == ["first"]


def test_topic_of_async_cluster_does_the_same() -> None:
    async def use() -> None:
        async with AsyncCluster(nodes=1) as cluster:
            orders = cluster.topic("orders", value=formats.json)
            await orders.produce([1])
            await orders.produce_all([("k", 2), 3])
            assert sorted(map(str, (each.value for each in await orders.wait_for(3)))) == ["2", "3", "[1]"]
            assert len(await orders.records()) == 3

    asyncio.run(use())


def test_name_of_a_format_is_no_format(cluster: Cluster) -> None:
    with pytest.raises(TypeError, match=r"value must be a Format, such as formats\.json, not 'json'"):
        cluster.topic("orders", value="json")  # type: ignore[arg-type]
