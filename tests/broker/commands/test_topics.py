"""`odradek topics`, and the requests of the client that it sends."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import Cluster
from tests.broker.commands.console import Console


def test_topics_lists_names_partitions_and_replicas(shared_cluster: Cluster, console: Console) -> None:
    shared_cluster.create_topic("payments", 3, replication_factor=1)
    shared_cluster.create_topic("orders", 2)
    expected = "NAME      PARTITIONS  REPLICAS  INTERNAL\norders    2           2         false\npayments  3           1         false\n"
    assert console.succeed("topics").output == expected
    assert console.succeed("topics", "list", "--output", "json").json == console.succeed("topics", "--output", "json").json
    assert [each["name"] for each in console.succeed("topics", "--output", "json").json] == ["orders", "payments"]


def test_topics_lists_internal_topics_on_request(shared_cluster: Cluster, console: Console) -> None:
    shared_cluster.create_topic("orders")
    console.succeed("groups", "reset-offsets", "billing", "--topic", "orders", "--to", "latest")
    names = [each["name"] for each in console.succeed("topics", "list", "--internal", "--output", "json").json]
    assert names == ["__consumer_offsets", "orders"]


def test_created_topic_has_its_partitions_and_settings(shared_cluster: Cluster, console: Console) -> None:
    options = ["--partitions", "3", "--replication-factor", "1", "--config", "retention.ms=1000", "--config", "cleanup.policy=compact"]
    (shown,) = console.succeed("topics", "create", "orders", *options, "--output", "json").json
    assert shown["configs"] == {"cleanup.policy": "compact", "retention.ms": "1000"}
    assert [(each["partition"], len(each["replicas"]), each["end_offset"]) for each in shown["partitions"]] == [
        (0, 1, 0),
        (1, 1, 0),
        (2, 1, 0),
    ]
    (topic,) = shared_cluster.topics()
    assert (topic.name, len(topic.partitions), topic.configs) == ("orders", 3, shown["configs"])


def test_topic_that_exists_is_refused_unless_it_may(shared_cluster: Cluster, console: Console) -> None:
    shared_cluster.create_topic("orders", 2)
    refused = console.run("topics", "create", "orders")
    assert (refused.code, refused.output) == (1, "")
    assert refused.errors == "odradek: topic orders: TOPIC_ALREADY_EXISTS: Topic 'orders' already exists.\n"
    (shown,) = console.succeed("topics", "create", "orders", "--partitions", "5", "--if-not-exists", "--output", "json").json
    assert len(shown["partitions"]) == 2


def test_describe_shows_offsets_and_settings_as_text(shared_cluster: Cluster, console: Console) -> None:
    shared_cluster.create_topic("orders", 1, replication_factor=1, configs={"retention.ms": "1000"})
    shared_cluster.produce("orders", ["a", "b"])
    (leader,) = shared_cluster.topics()[0].partitions
    assert console.succeed("topics", "describe", "orders").output == (
        'name      orders\ninternal  false\nconfigs   {"retention.ms": "1000"}\n\npartitions:\n'
        "PARTITION  LEADER  REPLICAS  ISR  START_OFFSET  END_OFFSET\n"
        f"0          {leader.leader}       {leader.leader}         {leader.leader}    0             2\n"
    )


def test_deleted_topics_are_gone(shared_cluster: Cluster, console: Console) -> None:
    for name in ("orders", "payments", "audit"):
        shared_cluster.create_topic(name)
    assert console.succeed("topics", "delete", "orders", "audit").output == "DELETED\norders\naudit\n"
    assert [each.name for each in shared_cluster.topics()] == ["payments"]


@pytest.mark.parametrize("action", ["describe", "delete"])
def test_unknown_topic_is_an_error(console: Console, action: str) -> None:
    result = console.run("topics", action, "order")
    assert (result.code, result.output) == (1, "")
    assert result.errors == "odradek: there is no topic 'order'; odradek topics lists those that exist\n"


def test_options_may_precede_the_action(shared_cluster: Cluster, console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOTSTRAP_SERVERS", "127.0.0.1:1")
    shared_cluster.create_topic("orders")
    given = ["--bootstrap-server", shared_cluster.bootstrap_servers, "--output", "json"]
    assert console.succeed("topics", *given, "list").json == console.succeed("topics", "list", *given).json != []


def test_topics_of_a_secured_cluster_need_credentials(console: Console, tmp_path: Path) -> None:
    with Cluster(nodes=1, tls=True, users={"alice": "secret"}, topics={"orders": 1}) as secured:
        console.use(secured)
        properties = tmp_path / "client.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in secured.client_config("java").items()))
        command = ["topics", "--command-config", str(properties), "--output", "json"]
        assert [each["name"] for each in console.succeed(*command).json] == ["orders"]
        properties.write_text(properties.read_text().replace("secret", "wrong"))
        refused = console.run(*command)
        assert (refused.code, refused.output) == (1, "")
        assert "authentication failed" in refused.errors
        assert console.run("topics").code == 1


@pytest.mark.parametrize("as_version", ["2.1", "3.9"])
def test_topics_of_older_releases_are_managed(console: Console, as_version: str) -> None:
    with Cluster(nodes=2, as_version=as_version) as older:
        console.use(older)
        console.succeed("topics", "create", "orders", "--partitions", "2", "--replication-factor", "2")
        console.succeed("produce", "orders", given=b"a\nb\n")
        assert sorted(console.succeed("consume", "orders").output.split()) == ["a", "b"]
        assert console.succeed("groups", "reset-offsets", "billing", "--topic", "orders", "--to", "latest").code == 0
        assert console.succeed("groups", "describe", "billing", "--output", "json").json[0]["lag"] == 0
        console.succeed("groups", "delete", "billing")
        console.succeed("topics", "delete", "orders")
        assert [each.name for each in older.topics() if not each.internal] == []
