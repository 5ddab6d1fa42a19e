"""Settings from `KAFKA_*` variables, as the images apache/kafka, cp-kafka, bitnami/kafka and wurstmeister/kafka have them."""

from __future__ import annotations

import re
from collections.abc import Mapping

PREFIX, BITNAMI_PREFIX = "KAFKA_", "KAFKA_CFG_"
SEPARATORS = {1: ".", 2: "_", 3: "-"}
# What the start scripts of the images read themselves, and what Kubernetes sets for a service named kafka.
NOT_SETTINGS = re.compile(
    r"KAFKA_(HEAP_OPTS|OPTS|JVM_PERFORMANCE_OPTS|GC_LOG_OPTS|JMX_.*|(TOOLS_)?LOG4J_.*|DEBUG|HOME|VERSION|CLUSTER_ID|CLASSPATH"
    r"|CREATE_TOPICS(_SEPARATOR)?|SERVICE_(HOST|PORT).*|PORT_[0-9]+_.*)|KAFKA_"
)
SERVICE_LINK = "tcp://"  # KAFKA_PORT is one where Kubernetes sets it


def settings_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that `KAFKA_*` gives: `_` is a dot, `__` is `_`, `___` is `-`. `KAFKA_CFG_*` goes before `KAFKA_*`."""
    given = {name: value for name, value in environ.items() if name.startswith(PREFIX) and not value.startswith(SERVICE_LINK)}
    plain = (name for name in given if not name.startswith(BITNAMI_PREFIX) and not NOT_SETTINGS.fullmatch(name))
    bitnami = (name for name in given if name.startswith(BITNAMI_PREFIX))
    return {_setting(name, PREFIX): given[name] for name in plain} | {_setting(name, BITNAMI_PREFIX): given[name] for name in bitnami}


def _setting(variable: str, prefix: str) -> str:
    return re.sub("_{1,3}", lambda match: SEPARATORS[len(match[0])], variable.removeprefix(prefix).lower())
