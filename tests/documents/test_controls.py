"""docs/controls.md: every control with its three forms, and every type that it refers to."""

from __future__ import annotations

import re

import pytest

from documents.controls import PAGE, http_call, pages, python_call
from odradek.broker.controls.declaration import CONTROLS, Control
from odradek.broker.controls.interface.examples import example_of
from tests.broker.controls.interface.sample_control import SAMPLE

PAGES = pages()


@pytest.mark.parametrize("declared", CONTROLS.values(), ids=lambda declared: " ".join(declared.words))
def test_control_has_a_section_with_three_calls(declared: Control) -> None:
    text = PAGES[f"docs/controls/{declared.words[0]}.md"]
    (section,) = re.findall(rf"^## {' '.join(declared.words)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    calls = re.findall(r"^```\w+\n(.*)\n```$", section, re.MULTILINE)
    example = example_of(declared)
    assert calls[:2] == [python_call(declared, example), http_call(declared, example)]
    assert max(map(len, calls)) <= 84  # the width of the site
    assert calls[2].startswith(f"odradek ctl {' '.join(declared.words)}")
    row = f"| [{' '.join(declared.words)}](controls/{declared.words[0]}.md#{'-'.join(declared.words)}) | `{calls[0]}` |"
    assert row in PAGES[PAGE]


def test_calls_of_a_sample_have_values() -> None:
    arguments = {"node": 2, "pause": "10m", "flag": True}
    assert python_call(SAMPLE, arguments) == 'cluster.sample(2, "10m", flag=True)'
    assert http_call(SAMPLE, arguments) == 'POST /sample/do {"node": 2, "pause": "10m", "flag": true}'
