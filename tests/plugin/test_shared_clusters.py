"""Several clusters in one test, by name."""

from __future__ import annotations

import pytest

from tests.plugin.project import run, run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets]


def test_named_clusters_are_shared_by_their_options(pytester: pytest.Pytester) -> None:
    tests = """
    import pytest

    pytestmark = pytest.mark.kafka(name="mirror", nodes=1, topics={"copies": 1})
    seen = []

    def test_two_clusters(kafka_cluster, kafka_clusters):
        mirror = kafka_clusters["mirror"]
        assert len(kafka_cluster.nodes()) == 2 and len(mirror.nodes()) == 1
        assert kafka_clusters["mirror"] is mirror and list(kafka_clusters) == ["mirror"]
        mirror.produce("copies", ["a"])
        seen.append(mirror)

    def test_same_options(kafka_clusters):
        assert kafka_clusters["mirror"] is seen[0]
        assert len(kafka_clusters["mirror"].records("copies")) == 1

    @pytest.mark.kafka(name="mirror", topics={"others": 1}, freeze=True)
    @pytest.mark.kafka(name="third", nodes=3)
    def test_other_options(kafka_clusters, kafka_cluster):
        mirror = kafka_clusters["mirror"]
        assert mirror is not seen[0] and not seen[0].is_running and sorted(kafka_clusters) == ["mirror", "third"]
        assert sorted(topic.name for topic in mirror.topics()) == ["copies", "others"]
        assert (mirror.clock.state().speed, kafka_cluster.clock.state().speed) == (0, 1)
        assert len(kafka_clusters["third"].nodes()) == 3

    def test_stops(kafka_clusters):
        kafka_clusters["mirror"].stop()

    def test_after_stop(kafka_clusters):
        assert kafka_clusters["mirror"].is_running
        with pytest.raises(KeyError, match="no mark declares the cluster 'miror'"):
            kafka_clusters["miror"]
    """
    result = run(pytester, tests, "-W", "default")
    result.assert_outcomes(passed=5)
    assert result.stdout.str().count(" has stopped ") == 1
    result.stdout.fnmatch_lines(["*test_stops has stopped the cluster 'mirror', which tests share*"])


def test_named_cluster_is_reset_and_part_of_the_report(pytester: pytest.Pytester) -> None:
    tests = """
    import pytest

    @pytest.mark.kafka(name="mirror", nodes=1, topics={"copies": 1})
    @pytest.mark.parametrize("number", range(2))
    def test_finds_nothing(number, kafka_clusters):
        assert kafka_clusters["mirror"].records("copies") == []
        kafka_clusters["mirror"].produce("copies", ["a"])
        assert number == 0
    """
    result = run(pytester, tests, "--kafka-reset")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*kafka exchanges*"])


@pytest.mark.slow
def test_named_clusters_are_awaited(pytester: pytest.Pytester) -> None:
    tests = """
    import pytest

    @pytest.mark.anyio
    @pytest.mark.kafka(name="mirror", nodes=1, topics={"copies": 1})
    async def test_mirror(async_kafka_clusters):
        assert [topic.name for topic in await async_kafka_clusters["mirror"].topics()] == ["copies"]

    @pytest.fixture
    def anyio_backend():
        return "asyncio"
    """
    run_in_subprocess(pytester, tests).assert_outcomes(passed=1)


def test_unknown_option_of_a_named_cluster_is_refused(pytester: pytest.Pytester) -> None:
    tests = "import pytest\n@pytest.mark.kafka(name='m', node=1)\ndef test_mirror(kafka_clusters): pass"
    result = run(pytester, tests)
    result.stdout.fnmatch_lines(["*@pytest.mark.kafka: unknown option 'node'; the options are nodes, *"])
