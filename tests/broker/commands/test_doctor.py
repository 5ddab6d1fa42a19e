"""`odradek doctor`: findings of a running cluster, exit codes, JSON, and mistakes in the call."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from odradek import Cluster
from odradek.broker import cli
from tests.broker.commands.outcome import CommandOutcome, Run, outcome_of

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    settings = {"message.max.bytes": 1000}
    with Cluster(nodes=1, topics={"orders": 1}, settings=settings, control="127.0.0.1:0", control_token="s3cret") as cluster:
        yield cluster


@pytest.fixture
def run(cluster: Cluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ODRADEK_CONTROL_TOKEN", "s3cret")
    monkeypatch.delenv("ODRADEK_CONTROL", raising=False)

    def run(*arguments: str) -> CommandOutcome:
        return outcome_of(cli.main(["doctor", *arguments]), capsys)

    return run


def test_cluster_without_mistakes_has_exit_code_0(cluster: Cluster, run: Run) -> None:
    assert run("--control", str(cluster.control)) == (0, "no mistakes found\n", "")
    assert json.loads(run("--control", str(cluster.control), "--json").output) == []


def test_mistake_is_reported_with_exit_code_1(cluster: Cluster, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    writer.produce("orders", bytes(5000))
    writer.flush()
    monkeypatch.setenv("ODRADEK_CONTROL", str(cluster.control))
    code, output, errors = run()
    assert (code, errors) == (1, "")
    assert output.startswith("1. oversize batches: rdkafka")
    (found,) = json.loads(run("--json").output)
    assert found["name"] == "oversize batches"
    assert found["exchanges"] == [exchange.sequence for exchange in cluster.requests(api="Produce")]
    assert "MESSAGE_TOO_LARGE" in found["lines"][0]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "odradek: no control listener answers at 127.0.0.1:2"),
        (("--control", "nowhere"), "odradek: invalid address 'nowhere': use HOST:PORT"),
        (("--control", "127.0.0.1:1"), "odradek: no control listener answers at 127.0.0.1:1"),
    ],
)
def test_mistake_in_the_call_has_exit_code_2(run: Run, arguments: tuple[str, ...], error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.broker.commands.options.DEFAULT_CONTROL", "127.0.0.1:2")
    code, output, errors = run(*arguments)
    assert (code, output) == (2, "")
    assert errors.startswith(error)


def test_wrong_token_has_exit_code_2(cluster: Cluster, run: Run) -> None:
    code, _, errors = run("--control", str(cluster.control), "--control-token", "wrong")
    assert code == 2
    assert "token" in errors


def test_record_that_is_switched_off_has_exit_code_2(run: Run) -> None:
    with Cluster(nodes=1, record_exchanges=0, control="127.0.0.1:0") as cluster:
        code, _, errors = run("--control", str(cluster.control))
        assert code == 2
        assert "the record of exchanges is switched off" in errors
