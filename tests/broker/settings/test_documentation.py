"""The generator of docs/configuration.md. Whether the document is current is checked by tests/tidy/test_documents.py."""

from __future__ import annotations

from odradek.broker.settings.documentation import as_markdown
from odradek.broker.settings.rows import SETTINGS


def test_as_markdown_names_each_setting_that_is_shown() -> None:
    text = as_markdown()
    assert [setting.name for setting in SETTINGS if f"`{setting.name}`" not in text and not setting.internal] == []


def test_as_markdown_has_a_table_row_for_each_setting_that_acts() -> None:
    lines = as_markdown().splitlines()
    assert sum(line.startswith("| `") for line in lines) == sum(setting.acts for setting in SETTINGS)
    assert "| `node.id` | int |  | ≥ 0 | Id of this node. |" in lines
    assert "| `segment.bytes` | int | 1073741824 | ≥ 1048576 | " in next(line for line in lines if "| `segment.bytes`" in line)


def test_as_markdown_names_fallbacks_of_topic_settings() -> None:
    (line,) = (line for line in as_markdown().splitlines() if line.startswith("| `retention.ms` |"))
    assert line.endswith("Falls back to the broker's `log.retention.ms`, `log.retention.minutes`, `log.retention.hours`. |")
