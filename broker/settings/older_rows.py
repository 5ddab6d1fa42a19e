"""The settings of an older release: rows with its defaults, and the names that it does not have yet.

The broker reads settings that came later too, with the values that reproduce what the release did; only clients do not see them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..releases.api_ranges import number_of
from .former import BOUNDS_BEFORE, DEFAULTS_BEFORE, FORMER, SINCE
from .parsing import parse
from .rows import BROKER, BROKER_SETTINGS, TOPIC_SETTINGS
from .types import Setting, SettingRows

if TYPE_CHECKING:
    from ..releases.release import Release

FORMATS_UNTIL = (2, 8)
"""The last release in which `message.format.version` acts. From 3.0 on, messages are stored as record batches in any case (KIP-724)."""
NEWEST_MESSAGE_FORMAT = "3.0-IV1"


def rows_of(release: Release) -> SettingRows:
    """Returns the settings of a release."""
    number = release.number
    rows = {name: _as_it_was(row, number) for name, row in BROKER_SETTINGS.items()}
    former = [_as_it_was(each.setting, number) for each in FORMER if number_of(each.since) <= number <= number_of(each.until)]
    protocol_version = next((row.default for row in former if row.name == "inter.broker.protocol.version"), None)
    message_format = protocol_version if number <= FORMATS_UNTIL else NEWEST_MESSAGE_FORMAT
    changed = {"log.message.format.version": message_format} | ({"zookeeper.session.timeout.ms": 6000} if number < (2, 5) else {})
    rows |= {row.name: row._replace(default=changed.get(row.name, row.default)) for row in former if row.scope is BROKER}
    topic_rows = {name: _as_it_was(row, number) for name, row in TOPIC_SETTINGS.items()}
    topic_rows |= {row.name: row for row in former if row.scope is not BROKER}
    later = frozenset(name for since, names in SINCE.items() if number < number_of(since) for name in names.split())
    return SettingRows(rows, topic_rows, later, number <= FORMATS_UNTIL)


def _as_it_was(row: Setting, number: tuple[int, int]) -> Setting:
    if row.name in BOUNDS_BEFORE and number < number_of(BOUNDS_BEFORE[row.name][0]):
        row = row._replace(valid=BOUNDS_BEFORE[row.name][1])
    for before, text in DEFAULTS_BEFORE.get(row.name, ()):
        if number < number_of(before):
            return row._replace(default=parse(row._replace(valid=None), text))  # today's bounds may be others
    return row
