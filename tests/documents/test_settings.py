"""The generator of docs/configuration.md. Whether the document is current is checked by test_generated.py."""

from __future__ import annotations

import re

from documents.settings import PAGE, pages
from odradek.broker.settings.rows import SETTINGS


def family_pages() -> str:
    return "\n".join(text for name, text in pages().items() if name != PAGE)


def test_first_page_lists_each_setting_that_acts() -> None:
    listed = re.findall(r"^\| `([\w.]+)` \| \[.*\]\(configuration/.*\.md\) \| .* \|$", pages()[PAGE], re.MULTILINE)
    assert sorted(listed) == sorted(setting.name for setting in SETTINGS if setting.acts)


def test_pages_name_each_setting_that_is_shown() -> None:
    text = family_pages()
    assert [setting.name for setting in SETTINGS if f"`{setting.name}`" not in text and not setting.internal] == []


def test_pages_have_a_table_row_for_each_setting_that_acts() -> None:
    lines = family_pages().splitlines()
    assert sum(line.startswith("| `") for line in lines) == sum(setting.acts for setting in SETTINGS)
    assert "| `node.id` | int |  | ≥ 0 | Id of this node. |" in lines
    assert "| `segment.bytes` | int | 1073741824 | ≥ 1048576 | " in next(line for line in lines if "| `segment.bytes`" in line)


def test_pages_name_fallbacks_of_topic_settings() -> None:
    (line,) = (line for line in family_pages().splitlines() if line.startswith("| `retention.ms` |"))
    assert line.endswith("Falls back to the broker's `log.retention.ms`, `log.retention.minutes`, `log.retention.hours`. |")
