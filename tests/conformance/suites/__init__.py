"""The suites, by name."""

from __future__ import annotations

from ..suite import NotRun, Suite
from . import c, go, node, python

SUITES: dict[str, Suite] = {suite.name: suite for suite in (*python.SUITES, *go.SUITES, *node.SUITES, *c.SUITES)}

NOT_RUN: list[NotRun] = []
