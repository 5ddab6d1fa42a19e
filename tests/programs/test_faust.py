"""A Faust application counts words in a table, and a worker that starts again continues from the table's changelog topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import Cluster, formats
from tests.programs.program import PATIENCE_S, Program, python_with
from tests.programs.progress import wait_until_consumed

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

APPLICATION = Path(__file__).with_name("faust_app.py")
WORDS = ["spool", "stairs", "spool", "star", "spool"]


def worker(cluster: Cluster, directory: Path) -> Program:
    """Starts a worker. Skips the test if Faust cannot be installed."""
    python = python_with("faust-0.15.3", "faust-streaming==0.15.3")
    command = [python, str(APPLICATION), "--datadir", str(directory), "worker", "--without-web", "--loglevel", "info"]
    return Program(command, directory, {"BOOTSTRAP_SERVERS": cluster.bootstrap_servers})


def test_faust_restarted_worker_continues(tmp_path: Path) -> None:
    """On a busy machine, Faust may count new words twice: it seeks back to its committed offsets after it has read the changelog."""
    with Cluster(nodes=2, topics={"words": 2}) as cluster:
        words = cluster.topic("words", key=formats.text, value=formats.text)
        totals = cluster.topic("totals", value=formats.text)
        words.produce_all((word, word) for word in WORDS)
        with worker(cluster, tmp_path) as program:
            totals.wait_for(5, timeout_s=PATIENCE_S)
            wait_until_consumed(cluster, "word-count", "words")
            program.terminate()
        words.produce_all((word, word) for word in WORDS)
        with worker(cluster, tmp_path):
            totals.wait_for(10, timeout_s=PATIENCE_S)
            wait_until_consumed(cluster, "word-count", "words")
        counted = [f"spool {n}" for n in range(1, 7)] + ["stairs 1", "stairs 2", "star 1", "star 2"]
        totalled = [each.value for each in totals.records()]
        assert set(counted) <= set(totalled)
        assert len(totalled) == len(set(totalled)), "the second worker has counted a word from the start again"
