"""The reports of each framework, as these write them, are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.frameworks import Framework, GoTest, Jest, Librdkafka, Outcomes, Pytest

JUNIT = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="2"
 tests="6" time="0.061"><testcase classname="tests.test_a" name="test_passes" time="0.001" /><testcase classname="tests.test_a"
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
{"Time":"2026-11-22T15:00:00Z","Action":"fail","Package":"example.org/a","Elapsed":0.004}
"""
LIBRDKAFKA = """{ "id": "2026", "test_mode": "bare", "tests": {
"0001_multiobj": {"name": "0001_multiobj", "state": "PASSED", "known_issue": false, "extra": null, "duration": 1.1, "report": [] },
"0005_order": {"name": "0005_order", "state": "FAILED", "known_issue": false, "extra": null, "duration": 9.2, "report": ["late"] },
"0097_ssl_verify": {"name": "0097_ssl_verify", "state": "SKIPPED", "known_issue": false, "extra": null, "duration": 0.0, "report": [] }}}"""
JEST = """{"numTotalTests": 3, "testResults": [{"name": "/a/index.spec.js", "assertionResults": [
{"ancestorTitles": ["Admin"], "fullName": "Admin lists topics", "status": "passed", "title": "lists topics", "failureMessages": []},
{"ancestorTitles": ["Admin"], "fullName": "Admin fails", "status": "failed", "title": "fails", "failureMessages": ["Error"]},
{"ancestorTitles": ["Admin"], "fullName": "Admin waits", "status": "pending", "title": "waits", "failureMessages": []}]}]}"""


@pytest.mark.parametrize(
    ("framework", "text", "expected"),
    [
        (Pytest(), JUNIT, Outcomes(1, ("tests.test_a.test_fails", "tests.test_a.TestB.test_breaks"), {"tests.test_a.test_skips": "no SASL"})),
        (GoTest(), GO, Outcomes(1, ("TestFail",), {"TestSkip": "no broker"})),
        (Librdkafka(), LIBRDKAFKA, Outcomes(1, ("0005_order",), {"0097_ssl_verify": ""})),
        (Jest(), JEST, Outcomes(1, ("Admin fails",), {"Admin waits": ""})),
    ],
    ids=["pytest", "go", "librdkafka", "jest"],
)
def test_outcomes_of_a_report_are_read(framework: Framework, text: str, expected: Outcomes, tmp_path: Path) -> None:
    (tmp_path / "report").write_text(text)
    assert framework.outcomes(tmp_path / "report") == expected


def test_outcomes_of_a_build_failure_raise(tmp_path: Path) -> None:
    (tmp_path / "report").write_text('{"Action":"build-fail"}\n{"Action":"fail","Package":"example.org/a"}\n')
    with pytest.raises(ValueError, match="contains no test: read the log"):
        GoTest().outcomes(tmp_path / "report")


def test_leaving_out_names_the_tests() -> None:
    assert Pytest().leaving_out(["tests/a.py", "tests/b.py::c"]) == ["--deselect=tests/a.py", "--deselect=tests/b.py::c"]
    assert GoTest().leaving_out(["TestA", "TestB"]) == ["-skip=^(TestA|TestB)$"]
    assert Jest().leaving_out(["a (b)"]) == [r"--testNamePattern=^(?!(a\ \(b\))$)"]
    with pytest.raises(ValueError, match="name the tests to run in TESTS"):
        Librdkafka().leaving_out(["0001"])
