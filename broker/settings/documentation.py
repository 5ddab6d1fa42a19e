"""Generator of docs/configuration.md from the rows of all settings."""

from __future__ import annotations

from .rows import BROKER_SETTINGS, CLIENT_METRICS_SETTINGS, GROUP_SETTINGS, INT_MAX, LONG_MAX, TOPIC_SETTINGS
from .types import ConfigResourceType, Setting, Value

INTRODUCTION = (
    "# Configuration",
    "`make docs` generates this page from the table in `broker/settings/rows.py`.",
    "All settings of Kafka 4.3 are recognised: they are validated, stored and returned by DescribeConfigs. The settings in the tables below"
    " take effect; the settings listed under each table do not change the broker's behaviour. Settings that Kafka 4.3 does not have, such"
    " as those of ZooKeeper, are stored too. At startup, one log line names the settings that were given but have no effect. A name that"
    " closely resembles a setting of Kafka is rejected as a typo (`num.partition`: did you mean `num.partitions`?). `--set` and the Python"
    " API also reject a topic setting that has another name at the broker level (`retention.ms`: `log.retention.ms`).",
    "With `--as-version`, settings and defaults are those of an older release of Kafka ([older-versions.md](older-versions.md)).",
    "Broker settings come from these sources, the first of which takes precedence: `--set key=value`, environment variables,"
    " `--config server.properties`.",
    "An environment variable is named `KAFKA_` and the setting's name in upper case, with `_` for a dot, `__` for an underscore and `___`"
    " for a hyphen, as in the images apache/kafka and cp-kafka. `KAFKA_CFG_` works in the same way, as in bitnami/kafka, and takes"
    " precedence over `KAFKA_`. The names of listener settings before Kafka 3 are accepted: `KAFKA_ADVERTISED_HOST_NAME`,"
    " `KAFKA_ADVERTISED_PORT`, `KAFKA_HOST_NAME` and `KAFKA_PORT`. `KAFKA_CREATE_TOPICS` creates topics at startup, as in"
    " wurstmeister/kafka: each entry of `orders:4:1,users:1:1:compact` consists of name, partitions, replicas and, optionally, cleanup"
    " policy. If the environment configures listeners, the cluster has one node unless `--nodes` requests more.",
)

TABLES = {"Topics": TOPIC_SETTINGS, "Brokers": BROKER_SETTINGS, "Groups": GROUP_SETTINGS, "Client metrics": CLIENT_METRICS_SETTINGS}


def as_markdown() -> str:
    """Returns the text of docs/configuration.md."""
    parts = list(INTRODUCTION)
    for title, rows in TABLES.items():
        acting = [row for row in rows.values() if row.acts]
        others = [f"`{row.name}`" for row in rows.values() if not row.acts and not row.internal]
        table = ["| Name | Type | Default | Allowed values | Description |", "|---|---|---|---|---|", *map(_table_row, acting)]
        parts += [f"## {title}", "\n".join(table)]
        if others:
            parts.append("Settings without effect: " + ", ".join(others) + ".")
    return "\n\n".join(parts) + "\n"


def _table_row(row: Setting) -> str:
    inherits = row.synonyms and row.scope is not ConfigResourceType.BROKER
    fallback = f" Falls back to the broker's `{'`, `'.join(row.synonyms)}`." if inherits else ""
    return f"| `{row.name}` | {row.type.name.lower()} | {_default(row.default)} | {row.valid or ''} | {row.documentation}{fallback} |"


def _default(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value)
    return {LONG_MAX: "2^63 - 1", INT_MAX: "2^31 - 1"}.get(value, str(value)) if isinstance(value, int) else str(value)
