"""Settings from `KAFKA_*` variables, as in the images apache/kafka, cp-kafka, bitnami/kafka and wurstmeister/kafka."""

from __future__ import annotations

import re
from collections.abc import Mapping

PREFIX, BITNAMI_PREFIX = "KAFKA_", "KAFKA_CFG_"
SEPARATORS = {1: ".", 2: "_", 3: "-"}
# Variables that configure the start scripts of the images, and those that Kubernetes sets for a service named kafka.
NOT_SETTINGS = re.compile(
    r"KAFKA_(HEAP_OPTS|OPTS|JVM_PERFORMANCE_OPTS|GC_LOG_OPTS|JMX_.*|(TOOLS_)?LOG4J_.*|DEBUG|HOME|VERSION|CLUSTER_ID|CLASSPATH"
    r"|CREATE_TOPICS(_SEPARATOR)?|SERVICE_(HOST|PORT).*|PORT_[0-9]+_.*)|KAFKA_"
)
SERVICE_LINK = "tcp://"  # Kubernetes sets KAFKA_PORT to such a URL, which is not a port.


def settings_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings in `KAFKA_*` variables. `KAFKA_CFG_*` takes precedence over `KAFKA_*`.

    In a variable's name `_` stands for a dot, `__` for an underscore and `___` for a hyphen.
    """
    variables = {name: value for name, value in environ.items() if name.startswith(PREFIX) and not value.startswith(SERVICE_LINK)}
    plain = (name for name in variables if not name.startswith(BITNAMI_PREFIX) and not NOT_SETTINGS.fullmatch(name))
    bitnami = (name for name in variables if name.startswith(BITNAMI_PREFIX))
    return {_setting(name, PREFIX): variables[name] for name in plain} | {
        _setting(name, BITNAMI_PREFIX): variables[name] for name in bitnami
    }


def _setting(variable: str, prefix: str) -> str:
    return re.sub("_{1,3}", lambda match: SEPARATORS[len(match[0])], variable.removeprefix(prefix).lower())
