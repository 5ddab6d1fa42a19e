"""Fixtures beyond the cluster: `kafka_wire`, and those of asynchronous tests."""

from __future__ import annotations

import pytest

from tests.plugin.project import TITLE, run, run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets, pytest.mark.clients]

WRITE = """
        import pytest
        from confluent_kafka import Producer

        def write(servers, topic):
            producer = Producer({"bootstrap.servers": servers, "client.id": "shop", "log_level": 0})
            producer.produce(topic, b"value")
            producer.flush()
"""


def test_wire_has_the_exchanges_of_its_test(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        WRITE
        + """
        @pytest.mark.parametrize("number", range(2))
        def test_writes(kafka_wire, kafka_bootstrap_servers, number, tmp_path):
            write(kafka_bootstrap_servers, "before")
            mark = kafka_wire.mark()
            with kafka_wire.capture(tmp_path / "orders.pcapng"):
                write(kafka_bootstrap_servers, "orders")
            assert [each.topics for each in kafka_wire.requests(api="Produce")] == [("before",), ("orders",)]
            (produce,) = kafka_wire.requests(api=["Produce", "Fetch"], topic="ord*", client_id="shop", since=mark)
            assert produce in kafka_wire.since(mark) and produce in kafka_wire.since()
            (described,) = kafka_wire.entries("api=Produce", since=mark)
            assert described["topics"] == ["orders"]
            assert "Produce" in kafka_wire.diagram(since=mark, filter="api=Produce")
            assert "before" not in kafka_wire.diagram("mermaid", since=mark)
            assert (tmp_path / "orders.pcapng").stat().st_size > 1000
        """,
    ).assert_outcomes(passed=2)


ASYNC = (
    WRITE
    + """
        import sys

        async def use(cluster, clock, faults, wire, topic, folder):
            orders = cluster.topic(topic)
            await orders.produce("value")
            assert [each.value for each in await cluster.wait_for_records(topic, 1)] == [b"value"]
            assert (await clock.freeze()).speed == 0
            await clock.advance(seconds=1)
            fault = await faults.add(api="Produce", error="NOT_LEADER_OR_FOLLOWER")
            async with faults.lost_acks(topic):
                assert len(await faults.all()) == 2
            assert [each.fault for each in await faults.all()] == [fault.number]
            await fault.remove()
            mark = await wire.mark()
            async with wire.capture(folder / "orders.pcapng"):
                write(cluster.bootstrap_servers, topic)
            (produce,) = await wire.requests(api="Produce", topic=topic)
            assert produce in await wire.since(mark)
            assert len(await wire.entries("api=Produce")) == 1
            assert topic in await wire.diagram(since=mark)
"""
)
FIXTURES = "async_kafka_cluster, async_kafka_clock, async_kafka_faults, async_kafka_wire, kafka_topic, tmp_path"


def test_async_fixtures_serve_anyio_on_asyncio_and_trio(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        ASYNC
        + f"""
        @pytest.mark.anyio
        async def test_anyio({FIXTURES}):
            await use({FIXTURES})

        def test_plain(kafka_cluster, async_kafka_cluster):
            assert not kafka_cluster.list_faults() and kafka_cluster.clock.state().speed == 1
            assert async_kafka_cluster.bootstrap_servers == kafka_cluster.bootstrap_servers
        """,
        "-v",
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*::test_anyio?asyncio? PASSED*", "*::test_anyio?trio? PASSED*"])


def test_async_fixtures_serve_pytest_asyncio(pytester: pytest.Pytester) -> None:
    run_in_subprocess(
        pytester,
        ASYNC
        + f"""
        @pytest.mark.asyncio
        async def test_loop_of_a_test({FIXTURES}):
            await use({FIXTURES})

        @pytest.mark.asyncio(loop_scope="module")
        async def test_loop_of_a_module({FIXTURES}):
            await use({FIXTURES})
        """,
    ).assert_outcomes(passed=2)


def test_hanging_coroutine_is_interrupted(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import asyncio
        import pytest

        @pytest.mark.anyio
        @pytest.mark.parametrize("anyio_backend", ["asyncio"])
        async def test_hangs(async_kafka_cluster):
            await asyncio.Event().wait()
        """,
        "--kafka-timeout=0.5",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_hangs* has not ended after 0.5 s*", TITLE])
