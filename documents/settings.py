"""Generator of docs/configuration.md and of the pages in docs/configuration/ from the rows of all settings.

The first page has the table of all settings that have an effect, and each family of settings has a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.broker.settings.rows import BROKER_SETTINGS, CLIENT_METRICS_SETTINGS, GROUP_SETTINGS, TOPIC_SETTINGS
from odradek.broker.settings.types import INT_MAX, LONG_MAX, ConfigResourceType, Setting, Value

INTRODUCTION = (
    "# Configuration",
    "All settings of Kafka 4.3 are recognised: they are validated, stored and returned by DescribeConfigs. The settings in the"
    " table below take effect; the settings listed under the table of a family do not change the broker's behaviour. Settings that"
    " Kafka 4.3 does not have, such as those of ZooKeeper, are stored too. At startup, one log line names the settings that were"
    " given but have no effect. A name that closely resembles a setting of Kafka is rejected as a typo (`num.partition`: did you"
    " mean `num.partitions`?). `--set` and the Python API take a topic or group setting as the broker setting that it falls back to"
    " (`flush.messages`: `log.flush.interval.messages`). Kafka ignores misspelt settings and those of topics:"
    " `--ignore-unknown-settings` and `Cluster(ignore_unknown_settings=True)` do so too, with one warning that names them.",
    "With `--as-version`, settings and defaults are those of an older release of Kafka ([older versions](older-versions.md)).",
    "Broker settings come from these sources, the first of which takes precedence: `--set key=value`, environment variables,"
    " `--config server.properties`.",
    "An environment variable is named `KAFKA_` and the setting's name in upper case, with `_` for a dot, `__` for an underscore and `___`"
    " for a hyphen, as in the images apache/kafka and cp-kafka. `KAFKA_CFG_` works in the same way, as in bitnami/kafka, and takes"
    " precedence over `KAFKA_`. The names of listener settings before Kafka 3 are accepted: `KAFKA_ADVERTISED_HOST_NAME`,"
    " `KAFKA_ADVERTISED_PORT`, `KAFKA_HOST_NAME` and `KAFKA_PORT`. `KAFKA_CREATE_TOPICS` creates topics at startup, as in"
    " wurstmeister/kafka: each entry of `orders:4:1,users:1:1:compact` consists of name, partitions, replicas and, optionally, cleanup"
    " policy. If the environment configures listeners, the cluster has one node unless `--nodes` requests more.",
)

BROKER_FAMILIES = {
    "Listeners, connections and limits": "listener listeners advertised inter socket connection connections max queued request requests",
    "Security": "sasl ssl authorizer super allow principal delegation password security early",
    "Groups, offsets and transactions": "group offsets offset transaction transactional producer share streams",
    "Nodes, replicas and quotas": "node broker controller controlled replica unclean leader eligible quota quotas rack reserved server",
    "Topics, logs and metrics": "",
}
"""The pages of broker settings, with the first words of their settings. The last one has all others."""
PAGE, FOLDER = "docs/configuration.md", "configuration"
MAX_DEFAULT_LENGTH = 45


def pages() -> dict[str, str]:
    """Returns the text of each page by its path in the repository."""
    families = _families()
    texts = {f"docs/{FOLDER}/{_slug(title)}.md": _family_page(title, rows) for title, rows in families.items()}
    contents = "\n".join(["```{toctree}", ":hidden:", "", *(f"{FOLDER}/{_slug(title)}" for title in families), "```"])
    texts[PAGE] = [*INTRODUCTION, "## All settings with an effect", _overview(families), contents]
    return {name: "\n\n".join(parts) + "\n" for name, parts in texts.items()}


def _families() -> dict[str, list[Setting]]:
    """Returns the settings of each page by its title."""
    found: dict[str, list[Setting]] = {"Topic settings": list(TOPIC_SETTINGS.values())}
    found |= {f"Broker settings: {family}": [] for family in BROKER_FAMILIES}
    *known, others = BROKER_FAMILIES
    for row in BROKER_SETTINGS.values():
        word = row.name.partition(".")[0]
        family = next((name for name in known if word in BROKER_FAMILIES[name].split()), others)
        found[f"Broker settings: {family}"].append(row)
    return found | {"Group settings": list(GROUP_SETTINGS.values()), "Client metrics settings": list(CLIENT_METRICS_SETTINGS.values())}


def _slug(title: str) -> str:
    return title.lower().replace(":", "").replace(",", "").replace(" ", "-")


def _family_page(title: str, rows: Iterable[Setting]) -> list[str]:
    acting = [_table_row(row) for row in rows if row.acts]
    others = [f"`{row.name}`" for row in rows if not row.acts and not row.internal]
    parts = [f"# {title}", f"[Configuration](../{FOLDER}.md) says where settings come from."]
    if acting:
        parts.append("\n".join(["| Name | Type | Default | Allowed values | Description |", "|---|---|---|---|---|", *acting]))
    if others:
        parts.append("Settings without effect: " + ", ".join(others) + ".")
    return parts


def _overview(families: Mapping[str, Iterable[Setting]]) -> str:
    rows = [
        f"| `{row.name}` | [{title}]({FOLDER}/{_slug(title)}.md) | {_short(_default(row.default))} |"
        for title, members in families.items()
        for row in members
        if row.acts
    ]
    return "\n".join(["| Setting | Page | Default |", "|---|---|---|", *rows])


def _table_row(row: Setting) -> str:
    inherits = row.synonyms and row.scope is not ConfigResourceType.BROKER
    fallback = f" Falls back to the broker's `{'`, `'.join(row.synonyms)}`." if inherits else ""
    return f"| `{row.name}` | {row.type.name.lower()} | {_default(row.default)} | {row.valid or ''} | {row.documentation}{fallback} |"


def _short(default: str) -> str:
    """Returns a default for the first page, whose columns have no room for long lists."""
    return default if len(default) <= MAX_DEFAULT_LENGTH else "a list"


def _default(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value)
    return {LONG_MAX: "2^63 - 1", INT_MAX: "2^31 - 1"}.get(value, str(value)) if isinstance(value, int) else str(value)
