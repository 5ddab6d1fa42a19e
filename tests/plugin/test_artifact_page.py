"""The page about a failed test."""

from __future__ import annotations

import re
from html import unescape

from odradek.broker.wire.diagrams.formats import FORMATS
from odradek.plugin.artifact_page import ClusterPart, page_of
from odradek.plugin.failure_report import ClusterReport
from tests.broker.wire.diagrams.scenes import HOSTILE, hostile_story

REPORT = ClusterReport("cluster: node 1", {"Story": ["what happened"], "Groups": [], "Doctor": ["doctor: a finding"]})


def test_page_has_name_failures_and_parts() -> None:
    page = page_of("test_orders.py::test_order", {"call": "assert 1 == 2", "teardown": "broken"}, [ClusterPart(REPORT, "")])
    headings = re.findall(r"<h\d>(.*?)</h\d>", page)
    clusters = ["cluster: node 1", "Story", "Groups", "Doctor"]
    assert headings == ["test_orders.py::test_order", "Failure in call", "Failure in teardown", *clusters]
    assert "<pre>assert 1 == 2</pre>" in page and "<pre>none</pre>" in page
    assert "<iframe" not in page


def test_diagram_is_a_document_in_a_frame_of_its_own() -> None:
    diagram = FORMATS["html"](hostile_story())
    page = page_of("test", {}, [ClusterPart(REPORT, diagram)])
    (document,) = re.findall(r'<iframe sandbox="allow-scripts" title="Sequence diagram" srcdoc="([^"]*)"></iframe>', page)
    assert unescape(document) == diagram


def test_hostile_texts_are_escaped_and_nothing_is_loaded() -> None:
    report = ClusterReport(HOSTILE, {HOSTILE: [HOSTILE]})
    page = page_of(HOSTILE, {HOSTILE: HOSTILE}, [ClusterPart(report, "")])
    assert "<script" not in page
    assert not re.search(r"\b(?:src|href)=", page)
    assert all(line.isprintable() for line in page.splitlines())
