"""The pytest plugin in projects of its users."""

from __future__ import annotations

import pytest

from tests.plugin.project import bare, blocks, run, run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets]

(FAILS,) = blocks("python", before="<!-- This test fails. -->\n")


def test_examples_of_the_page_pass(pytester: pytest.Pytester) -> None:
    run(pytester, "\n".join(block for block in blocks("python") if block != FAILS)).assert_outcomes(passed=7)


@pytest.mark.slow
def test_failing_example_of_the_page_has_its_listing(pytester: pytest.Pytester) -> None:
    """Numbers, addresses and the widths of lines differ from run to run."""
    imports = "import pytest\nfrom confluent_kafka import Producer\n"
    result = run_in_subprocess(pytester, imports + FAILS, "--kafka-artifacts=failed")
    result.assert_outcomes(failed=1)
    found = [bare(line) for line in result.outlines]
    listing = blocks("text")[0].replace("failed/test_orders", f"{pytester.path}/failed/test_project")
    missing = [line for line in listing.splitlines() if line.strip() != "..." and bare(line) not in found]
    assert not missing


def test_fixtures_share_one_cluster_of_two_nodes(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        seen = []

        def test_one(kafka_cluster, kafka_bootstrap_servers, kafka_topic):
            assert len(kafka_cluster.bootstrap_servers.split(",")) == 2
            assert kafka_bootstrap_servers == kafka_cluster.bootstrap_servers
            assert isinstance(kafka_topic, str) and kafka_topic.startswith("test_one-")
            kafka_cluster.produce(kafka_topic, ["value"])
            seen.append((kafka_cluster, kafka_topic))

        def test_two(kafka_topic, kafka_cluster):
            assert seen[0][0] is kafka_cluster and seen[0][1] != kafka_topic
            assert [topic.name for topic in kafka_cluster.topics()] == [kafka_topic]
        """,
    ).assert_outcomes(passed=2)


def test_schema_registry_belongs_to_the_cluster(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        from urllib.request import urlopen

        def test_url(kafka_schema_registry, kafka_cluster):
            assert kafka_schema_registry == kafka_cluster.schema_registry_url
            assert urlopen(f"{kafka_schema_registry}/subjects").read() == b"[]"
        """,
    ).assert_outcomes(passed=1)


def test_topic_has_a_legal_name_for_any_test(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        import pytest

        @pytest.mark.parametrize("value", ["a b/c", "ß" * 300, "x" * 300])
        def test_any(kafka_topic, kafka_cluster, value):
            assert kafka_cluster.produce(kafka_topic, ["value"])
        """,
    ).assert_outcomes(passed=3)


def test_mark_configures_the_cluster_of_a_test(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.kafka(nodes=3, topics={"orders": 4}, settings={"num.partitions": 7}, users={"alice": "secret"})
        class TestOrders:
            def test_marked(self, kafka_cluster, kafka_topic):
                assert len(kafka_cluster.bootstrap_servers.split(",")) == 3
                assert {topic.name: len(topic.partitions) for topic in kafka_cluster.topics()} == {"orders": 4, kafka_topic: 7}
                assert kafka_cluster.client_config("java")["sasl.mechanism"]

            @pytest.mark.kafka(nodes=1, freeze=True)
            def test_closest_mark_wins(self, kafka_clock, kafka_cluster):
                assert len(kafka_cluster.bootstrap_servers.split(",")) == 1
                assert kafka_clock.state().speed == 0
                assert "orders" in [topic.name for topic in kafka_cluster.topics()]

        @pytest.mark.kafka(as_version="3.9")
        def test_release(kafka_cluster):
            pass

        def test_default(kafka_cluster):
            assert len(kafka_cluster.bootstrap_servers.split(",")) == 2
            assert kafka_cluster.clock.state().speed == 1
        """,
        "-v",
    )
    result.assert_outcomes(passed=4)


def test_unknown_option_of_a_mark_is_named(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.kafka(node=3)
        def test_marked(kafka_cluster):
            pass
        """,
    )
    result.stdout.fnmatch_lines(["*@pytest.mark.kafka: unknown option 'node'; the options are nodes, topics,*"])


def test_options_come_from_ini_and_command_line(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("seed").mkdir()
    pytester.path.joinpath("seed", "users.jsonl").write_text('{"value": "alice"}\n')
    run(
        pytester,
        """
        def test_options(kafka_cluster):
            assert len(kafka_cluster.bootstrap_servers.split(",")) == 1
            assert {topic.name: len(topic.partitions) for topic in kafka_cluster.topics()} == {"orders": 4, "users": 5}
        """,
        "--kafka-nodes=1",
        "--kafka-set=num.partitions=5",
        ini="kafka_nodes = 3\nkafka_topics = orders:4\nkafka_settings = num.partitions=6\nkafka_data = seed",
    ).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("ini", "problem"),
    [
        ("kafka_nodes = many", "kafka_nodes: must be a number of at least 1, not 'many'"),
        ("kafka_settings = num.partitions", "kafka_settings: write KEY=VALUE, not 'num.partitions'"),
        ("kafka_scope = forever", "kafka_scope: must be one of function, class, module, package, session, not 'forever'"),
    ],
)
def test_invalid_option_is_named(pytester: pytest.Pytester, ini: str, problem: str) -> None:
    result = run(pytester, "def test_any(kafka_cluster): pass", ini=ini)
    assert problem in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("options", [{"ini": "kafka_reset = true"}, {"option": "--kafka-reset"}], ids=["ini", "option"])
def test_reset_returns_to_the_state_after_start(pytester: pytest.Pytester, options: dict[str, str]) -> None:
    run(
        pytester,
        """
        import pytest
        addresses = []

        @pytest.mark.parametrize("number", range(3))
        def test_number(kafka_cluster, kafka_topic, number):
            addresses.append(kafka_cluster.bootstrap_servers)
            kafka_cluster.create_topic("left-over")
            assert len(set(addresses)) == 1
            assert sorted(topic.name for topic in kafka_cluster.topics()) == ["left-over", kafka_topic]
        """,
        *([options["option"]] if "option" in options else []),
        ini=options.get("ini", ""),
    ).assert_outcomes(passed=3)


def test_faults_and_time_end_with_their_test(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        def test_first(kafka_faults, kafka_clock):
            kafka_faults.add(api="Produce", error="NOT_LEADER_OR_FOLLOWER")
            kafka_faults.lost_acks("orders")
            assert len(kafka_faults.all()) == 2
            kafka_clock.freeze()

        def test_second(kafka_cluster):
            assert not kafka_cluster.list_faults()
            assert kafka_cluster.clock.state().speed == 1
        """,
    ).assert_outcomes(passed=2)


def test_clusters_of_the_factory_are_stopped(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        made = []

        def test_make(make_kafka_cluster):
            made.extend([make_kafka_cluster(), make_kafka_cluster(nodes=1, topics={"orders": 1})])
            assert made[0].bootstrap_servers != made[1].bootstrap_servers

        def test_stopped():
            assert all("not running" in repr(cluster) for cluster in made)
        """,
    ).assert_outcomes(passed=2)


def test_other_tests_are_not_touched(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        import sys

        def test_plain(request):
            assert request.fixturenames == ["request"]
            assert request.config.pluginmanager.hasplugin("odradek")
        """,
        "--kafka-reset",
    ).assert_outcomes(passed=1)


def test_scope_of_the_cluster_is_an_option(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        seen = []

        def test_one(kafka_cluster):
            seen.append(kafka_cluster)

        def test_two(kafka_cluster):
            assert kafka_cluster is not seen[0]
        """,
        ini="kafka_scope = function",
    ).assert_outcomes(passed=2)
