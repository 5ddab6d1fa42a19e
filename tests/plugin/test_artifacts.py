"""The files of failed tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.wire.exchange import Exchange
from odradek.broker.wire.reading.capture import CaptureReader
from odradek.plugin.artifacts import file_name
from tests.plugin.project import TITLE, run, run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets, pytest.mark.clients]

TESTS = """
        import pytest
        from confluent_kafka import Producer

        def write(cluster, topic):
            producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "shop", "log_level": 0})
            producer.produce(topic, b"value")
            producer.flush()

        @pytest.mark.parametrize("name", ["a/b", "a b", "good", "last"])
        def test_orders(kafka_cluster, kafka_topic, name):
            write(kafka_cluster, kafka_topic)
            assert name == "good"
"""


def test_failed_tests_leave_a_capture_and_a_page(pytester: pytest.Pytester) -> None:
    result = run(pytester, TESTS, "--kafka-artifacts=files")
    result.assert_outcomes(passed=1, failed=3)
    files = sorted(path.name for path in (pytester.path / "files").iterdir())
    assert [Path(name).suffix for name in files] == [".html", ".pcapng"] * 3
    assert all(name.startswith("test_project.py-test_orders-") for name in files)
    for path in (pytester.path / "files").glob("*.pcapng"):
        with path.open("rb") as file:
            entries = [each for each in CaptureReader(file).entries() if isinstance(each, Exchange)]
        assert [each.client_id for each in entries if each.api == "Produce"] == ["shop"]
        page = path.with_suffix(".html").read_text()
        assert "<h1>test_project.py::test_orders[" in page and "assert name == &quot;good&quot;" in page
        assert "Produce v" in page and "<iframe" in page
    result.stdout.fnmatch_lines([TITLE, "file: */files/test_project.py-test_orders-a-b-*-main.pcapng", "file: *-main.html"])


@pytest.mark.slow
def test_workers_of_xdist_report_and_name_files(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, TESTS, "--kafka-artifacts=files", "-n2")
    result.assert_outcomes(passed=1, failed=3)
    assert {path.stem[-4:] for path in (pytester.path / "files").iterdir()} <= {"-gw0", "-gw1"}
    assert result.stdout.str().count("- kafka exchanges -") == 3
    result.stdout.fnmatch_lines([TITLE, "*Produce v*", "file: *-gw?.pcapng"])


def test_each_cluster_of_a_test_has_files(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.fixture
        def broken():
            yield
            assert not "torn down"

        def test_fails(make_kafka_cluster, tmp_path):
            make_kafka_cluster(nodes=1).stop()
            make_kafka_cluster(nodes=1, record_exchanges=0)
            make_kafka_cluster(nodes=1, capture=tmp_path / "own.pcapng")
            assert not "as expected"

        def test_passes(make_kafka_cluster):
            make_kafka_cluster(nodes=1)
            make_kafka_cluster(nodes=1).stop()
            make_kafka_cluster(nodes=1).stop_capture()

        def test_is_broken(broken, make_kafka_cluster):
            make_kafka_cluster(nodes=1)
        """,
        "--kafka-artifacts=files",
    )
    result.assert_outcomes(passed=2, failed=1, errors=1)
    result.stdout.fnmatch_lines(["no capture is kept: file: a capture is being written to *own.pcapng; stop it first"])
    files = sorted(path.name.partition("::")[0] for path in (pytester.path / "files").iterdir())
    fails, broken = (file_name(f"test_project.py::{name}", "main") for name in ("test_fails", "test_is_broken"))
    assert files == sorted([f"{fails}.pcapng", f"{fails}-2.pcapng", f"{fails}.html", f"{broken}.pcapng", f"{broken}.html"])
    page = (pytester.path / "files" / f"{fails}.html").read_text()
    assert page.count("<h2>cluster: ") == 3 and page.count("<iframe") == 1, "one is stopped, and one records nothing"
    assert "torn down" in (pytester.path / "files" / f"{broken}.html").read_text()


def test_folder_that_cannot_be_created_is_reported(pytester: pytest.Pytester) -> None:
    (pytester.path / "files").write_text("no folder")
    result = run(pytester, TESTS, "--kafka-artifacts=files")
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["*FileExistsError*files*"])


@pytest.mark.parametrize("test", ["../../etc/passwd", 'test_project.py::test[\x00/\\:*?"<>|]', "x" * 1000, "ü.py::…"])
def test_file_name_is_legal_for_any_test(test: str) -> None:
    name = file_name(test, "gw1")
    assert name.isascii() and len(name) < 160
    assert not set(name) & set('/\\:*?"<>|\x00 ')
    assert not name.startswith((".", "-"))
    assert name.endswith("-gw1")
    assert name != file_name(f"{test} ", "gw1")
