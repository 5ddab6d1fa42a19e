"""Every setting of Kafka 4.3, one row each.

The rows define the settings that server.properties, `KAFKA_*` and `--set` may contain, the checks of CreateTopics and AlterConfigs, the
responses to DescribeConfigs, and docs/configuration.md. Names, types, defaults and ranges are those of Kafka's LogConfig, KafkaConfig and
GroupConfig. Where a default differs from Kafka's, the setting's documentation says so. Settings without `acts=True`
are checked and shown, but have no effect; CONTRIBUTING.md says how to make one act.
"""

from __future__ import annotations

from operator import attrgetter

from .group_rows import GROUP_ROWS
from .log_rows import LOG_ROWS
from .node_rows import NODE_ROWS
from .security_rows import SECURITY_ROWS
from .topic_rows import TOPIC_ROWS
from .types import ConfigResourceType, Setting, SettingRows

_ROWS = (*TOPIC_ROWS, *LOG_ROWS, *GROUP_ROWS, *NODE_ROWS, *SECURITY_ROWS)


def _rows_of(scope: ConfigResourceType) -> dict[str, Setting]:
    """Returns the settings of a scope by name, in alphabetical order."""
    return {row.name: row for row in sorted(_ROWS, key=attrgetter("name")) if row.scope is scope}


TOPIC_SETTINGS = _rows_of(ConfigResourceType.TOPIC)
BROKER_SETTINGS = _rows_of(ConfigResourceType.BROKER)
GROUP_SETTINGS = _rows_of(ConfigResourceType.GROUP)
CLIENT_METRICS_SETTINGS = _rows_of(ConfigResourceType.CLIENT_METRICS)
SETTINGS = tuple(row for rows in (TOPIC_SETTINGS, BROKER_SETTINGS, GROUP_SETTINGS, CLIENT_METRICS_SETTINGS) for row in rows.values())
PRESENT = SettingRows(BROKER_SETTINGS, TOPIC_SETTINGS)
