"""The reports of each framework, as these write them, are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.frameworks import Framework, GoTest, Jest, Librdkafka, Outcomes, Pytest

JUNIT = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1"
 skipped="2" tests="6" time="0.061"><testcase classname="tests.test_a" name="test_passes" time="0.001" /><testcase classname="tests.test_a"
 name="test_fails" time="0.001"><failure message="assert 1 == 2">def test_fails(): ...</failure></testcase><testcase
 classname="tests.test_a.TestB" name="test_breaks" time="0.000"><error message="failed on setup">E</error></testcase><testcase
 classname="tests.test_a" name="test_skips" time="0.000"><skipped type="pytest.skip" message="no SASL">a.py:9: no SASL</skipped></testcase>
<testcase classname="tests.test_a" name="test_xfails" time="0.000"><skipped type="pytest.xfail" message="known" /></testcase></testsuite>
</testsuites>"""
GO = """\
# a line of the compiler
{"Time":"2026-11-22T15:00:00Z","Action":"start","Package":"example.org/a"}
{"Time":"2026-11-22T15:00:00Z","Action":"run","Package":"example.org/a","Test":"TestPass"}
{"Time":"2026-11-22T15:00:00Z","Action":"output","Package":"example.org/a","Test":"TestPass","Output":"=== RUN   TestPass\\n"}
{"Time":"2026-11-22T15:00:00Z","Action":"fail","Package":"example.org/a","Test":"TestFail/part","Elapsed":0}
{"Time":"2026-11-22T15:00:00Z","Action":"pass","Package":"example.org/a","Test":"TestPass","Elapsed":0}
{"Time":"2026-11-22T15:00:00Z","Action":"fail","Package":"example.org/a","Test":"TestFail","Elapsed":0}
{"Time":"2026-11-22T15:00:00Z","Action":"output","Package":"example.org/a","Test":"TestSkip","Output":"    a_test.go:12: no broker\\n"}
{"Time":"2026-11-22T15:00:00Z","Action":"skip","Package":"example.org/a","Test":"TestSkip","Elapsed":0}
{"Time":"2026-11-22T15:00:00Z","Action":"run","Package":"example.org/a","Test":"TestEndless"}
{"Time":"2026-11-22T15:00:00Z","Action":"fail","Package":"example.org/a","Elapsed":0.004}
"""
LIBRDKAFKA = """\
\x1b[36m[0001_multiobj              /  1.100s] | 0001_multiobj | FAILED | is not a row of the table
\x1b[0mTEST 20261122103158 (bare, scenario default) SUMMARY
#==================================================================#
|\x1b[31m <MAIN>                                   |     FAILED |   9.819s \x1b[0m|\x1b[31m 2 test(s) failed\x1b[0m
|\x1b[32m 0001_multiobj                            |     PASSED |   1.100s \x1b[0m|
|\x1b[31m 0005_order                               |     FAILED |   9.200s \x1b[0m|\x1b[31m message 7 is late\x1b[0m
|\x1b[35m 0011_produce_batch                       |    RUNNING |   9.700s \x1b[0m|
|\x1b[36m 0097_ssl_verify                          |    SKIPPED |   0.000s \x1b[0m|\x1b[36m no SSL\x1b[0m
#==================================================================#
"""
JEST = """{"numTotalTests": 3, "testResults": [{"name": "/a/index.spec.js", "assertionResults": [
{"ancestorTitles": ["Admin"], "fullName": "Admin lists topics", "status": "passed", "title": "lists topics", "failureMessages": []},
{"ancestorTitles": ["Admin"], "fullName": "Admin fails", "status": "failed", "title": "fails", "failureMessages": ["Error"]},
{"ancestorTitles": ["Admin"], "fullName": "Admin waits", "status": "pending", "title": "waits", "failureMessages": []}]}]}"""


@pytest.mark.parametrize(
    ("framework", "text", "expected"),
    [
        (
            Pytest(),
            JUNIT,
            Outcomes(1, ("tests.test_a.test_fails", "tests.test_a.TestB.test_breaks"), {"tests.test_a.test_skips": "no SASL"}),
        ),
        (GoTest(), GO, Outcomes(1, ("TestFail", "TestEndless"), {"TestSkip": "no broker"})),
        (Librdkafka(), LIBRDKAFKA, Outcomes(1, ("0005_order", "0011_produce_batch"), {"0097_ssl_verify": "no SSL"})),
        (Jest(), JEST, Outcomes(1, ("Admin fails",), {"Admin waits": ""})),
    ],
    ids=["pytest", "go", "librdkafka", "jest"],
)
def test_outcomes_of_a_report_are_read(framework: Framework, text: str, expected: Outcomes, tmp_path: Path) -> None:
    (tmp_path / "report").write_text(text)
    assert framework.outcomes(tmp_path / "report") == expected


@pytest.mark.parametrize(
    ("framework", "text"),
    [
        (GoTest(), '{"Action":"build-fail"}\n{"Action":"fail","Package":"example.org/a"}\n'),
        (Pytest(), "ImportError while loading conftest.py"),
        (Librdkafka(), "test-runner: Assertion `0' failed."),
    ],
    ids=["go", "pytest", "librdkafka"],
)
def test_outcomes_of_a_failed_start_raise(framework: Framework, text: str, tmp_path: Path) -> None:
    (tmp_path / "report").write_text(text)
    with pytest.raises(ValueError, match="contains no test: read the log"):
        framework.outcomes(tmp_path / "report")


def test_leaving_out_names_the_tests() -> None:
    assert Pytest().leaving_out(["tests/a.py", "tests/b.py::c"]) == ["--deselect=tests/a.py", "--deselect=tests/b.py::c"]
    assert GoTest().leaving_out(["TestA", "TestB"]) == ["-skip=^(TestA|TestB)$"]
    assert Jest().leaving_out(["src/a", "src/b/(c|d)"]) == ["--testPathIgnorePatterns=src/a|src/b/(c|d)"]
    with pytest.raises(ValueError, match="name the tests to run in TESTS"):
        Librdkafka().leaving_out(["0001"])
