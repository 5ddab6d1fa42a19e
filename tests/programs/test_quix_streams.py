"""A Quix Streams application adds up amounts exactly once, and continues from its changelog topic after a restart and after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import Cluster, formats
from tests.programs.program import PATIENCE_S, Program, python_with
from tests.programs.progress import wait_until_consumed

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

SCRIPT = Path(__file__).with_name("quix_app.py")


def application(cluster: Cluster, state: Path) -> Program:
    """Starts the application. Skips the test if Quix Streams cannot be installed."""
    python = python_with("quixstreams-3.28.1", "quixstreams==3.28.1")
    return Program([python, str(SCRIPT), str(state)], state.parent, {"BOOTSTRAP_SERVERS": cluster.bootstrap_servers})


def committed_balances(cluster: Cluster, account: str) -> list[int]:
    """Returns the balances of an account, in the order in which they were written, without those of aborted transactions."""
    records = cluster.topic("balances", key=formats.text, value=formats.json).records()
    return [each.value["balance"] for each in records if each.key == account and each.transaction == "committed"]


def test_quix_streams_ended_application_continues(tmp_path: Path) -> None:
    with Cluster(nodes=2, topics={"payments": 2, "balances": 2}) as cluster:
        payments = cluster.topic("payments", key=formats.text, value=formats.json)
        payments.produce_all((account, {"amount": amount}) for amount in (1, 2, 3) for account in ("alice", "bob"))
        with application(cluster, tmp_path / "first") as program:
            cluster.wait_for_records("balances", 6, timeout_s=PATIENCE_S)
            wait_until_consumed(cluster, "balances", "payments")
            assert program.terminate() == 0, program.output()
        payments.produce_all((account, {"amount": amount}) for amount in (4, 5) for account in ("alice", "bob"))
        with application(cluster, tmp_path / "second") as program, cluster.fault(api="EndTxn", hang=True) as fault:
            fault.wait(1, timeout_s=PATIENCE_S)
            program.kill()
        # Each start has a new transactional id, so that only the time-out aborts the transaction that was open, and releases its offsets.
        cluster.clock.advance(minutes=2)
        with application(cluster, tmp_path / "third"):
            cluster.wait_for_records("balances", 10, timeout_s=PATIENCE_S)
            wait_until_consumed(cluster, "balances", "payments")
        for account in ("alice", "bob"):
            assert committed_balances(cluster, account) == [1, 3, 6, 10, 15]
