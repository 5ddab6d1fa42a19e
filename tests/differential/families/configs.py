"""The configs of topics, brokers and groups: described, replaced, and changed one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from odradek.protocol.messages.alter_configs import ALTER_CONFIGS
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS
from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS
from odradek.protocol.messages.list_config_resources import LIST_CONFIG_RESOURCES

from ..case import Case, Send, Topic, all_versions
from ..requests import request_of

SHARED = Topic("configs.shared", {"retention.ms": "77", "cleanup.policy": "compact"})
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
SHOWN = {
    TOPIC: ["retention.ms", "cleanup.policy", "min.insync.replicas"],
    BROKER: ["log.retention.ms", "num.partitions", "log.cleaner.threads"],
    GROUP: ["consumer.session.timeout.ms"],
}
Fields = Mapping[str, Any]


def cases() -> Iterator[Case]:
    for make in (_described, _replaced, _changed, _odd_resources, _listed):
        yield from make()


def describe(kind: int, name: str, keys: list[str] | None, version: int = 4, **options: bool) -> Send:
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": keys}
    return Send(DESCRIBE_CONFIGS, version, request_of(DESCRIBE_CONFIGS, {"resources": [resource], **options}))


def _described() -> Iterator[Case]:
    for version in all_versions(DESCRIBE_CONFIGS):
        for word, kind, name, keys in (
            ("topic", TOPIC, SHARED.name, None),
            ("topic.some", TOPIC, SHARED.name, ["retention.ms", "no.such"]),
            ("topic.no-key", TOPIC, SHARED.name, []),
            ("topic.unknown", TOPIC, "nobody", None),
            ("topic.bad-name", TOPIC, "a/b", None),
            ("topic.no-name", TOPIC, "", None),
            ("broker.some", BROKER, "1", ["num.partitions", "log.retention.ms", "log.retention.hours", "no.such", "ssl.key.password"]),
            ("broker.other", BROKER, "2", ["num.partitions"]),
            ("broker.text", BROKER, "x", None),
            ("broker.negative", BROKER, "-1", None),
            ("broker.all", BROKER, "", None),
            ("group", GROUP, "nobody", None),
            ("group.no-name", GROUP, "", None),
            ("logger.other", LOGGER, "2", ["kafka"]),
            ("logger.text", LOGGER, "x", ["kafka"]),
            ("metrics", METRICS, "nobody", None),
            ("metrics.no-name", METRICS, "", None),
        ):
            shown = [describe(kind, name, keys, version, include_synonyms=synonyms) for synonyms in (False, True)]
            yield Case(f"configs.describe.v{version}.{word}", (SHARED,), tuple(shown))
        for kind in (0, 1, 3, 99):
            yield Case(f"configs.describe.v{version}.type.{kind}", (), (describe(kind, "1", None, version),))


def altered(kind: int, name: str, configs: list[tuple[Any, ...]], *, validate_only: bool, version: int) -> Send:
    """Returns an IncrementalAlterConfigs request if the configs have operations, otherwise an AlterConfigs request."""
    changes = bool(configs) and len(configs[0]) == 3
    api = INCREMENTAL_ALTER_CONFIGS if changes else ALTER_CONFIGS
    keys = ("name", "value", "config_operation")
    made = [dict(zip(keys, config, strict=False)) for config in configs]
    fields = {"resources": [{"resource_type": kind, "resource_name": name, "configs": made}], "validate_only": validate_only}
    return Send(api, version, request_of(api, fields), settles=True)


def _case(name: str, kind: int, resource: str | None, configs: list[tuple[Any, ...]], version: int) -> Iterator[Case]:
    """Yields cases that change configs of `resource`, or of the topic or group of the case if it is None."""
    for validate_only in (True, False):
        own = name + ".validated" * validate_only
        topics = (Topic(own, {"retention.ms": "77", "cleanup.policy": "compact"}),) if kind == TOPIC and resource is None else ()
        change = altered(kind, own if resource is None else resource, configs, validate_only=validate_only, version=version)
        shown = (describe(kind, own if resource is None else resource, SHOWN[kind], include_synonyms=True),) if kind in SHOWN else ()
        yield Case(own, topics, (change, *shown))


def _replaced() -> Iterator[Case]:
    for version in all_versions(ALTER_CONFIGS):
        prefix = f"configs.alter.v{version}"
        for word, kind, resource, configs in (
            ("none", TOPIC, None, []),
            ("set", TOPIC, None, [("retention.ms", "5")]),
            ("two", TOPIC, None, [("retention.ms", "5"), ("min.insync.replicas", "2")]),
            ("unknown", TOPIC, None, [("no.such", "5")]),
            ("text", TOPIC, None, [("retention.ms", "x")]),
            ("range", TOPIC, None, [("retention.ms", "-2")]),
            ("null", TOPIC, None, [("retention.ms", None)]),
            ("empty", TOPIC, None, [("retention.ms", "")]),
            ("twice", TOPIC, None, [("retention.ms", "5"), ("retention.ms", "6")]),
            ("topic.unknown", TOPIC, "nobody", [("retention.ms", "5")]),
            ("topic.unknown-and-bad", TOPIC, "nobody", [("no.such", "5")]),
            ("topic.bad-name", TOPIC, "a/b", [("retention.ms", "5")]),
            ("topic.no-name", TOPIC, "", [("retention.ms", "5")]),
            ("broker.other", BROKER, "2", [("log.retention.ms", "5")]),
            ("broker.text", BROKER, "x", [("log.retention.ms", "5")]),
            ("broker.fixed", BROKER, "1", [("num.partitions.x", "5"), ("node.id", "7")]),
            ("broker.fixed-everywhere", BROKER, "", [("node.id", "7")]),
            ("broker.bad", BROKER, "1", [("log.retention.ms", "x")]),
            ("group.range", GROUP, None, [("consumer.session.timeout.ms", "1")]),
            ("group.set", GROUP, None, [("consumer.session.timeout.ms", "50000")]),
            ("group.unknown", GROUP, None, [("no.such", "1")]),
            ("group.no-name", GROUP, "", [("consumer.session.timeout.ms", "50000")]),
        ):
            yield from _case(f"{prefix}.{word}", kind, resource, configs, version)


def _changed() -> Iterator[Case]:
    for version in all_versions(INCREMENTAL_ALTER_CONFIGS):
        prefix = f"configs.change.v{version}"
        for word, kind, resource, configs in (
            ("set", TOPIC, None, [("min.insync.replicas", "2", SET)]),
            ("set.null", TOPIC, None, [("retention.ms", None, SET)]),
            ("set.bad", TOPIC, None, [("retention.ms", "x", SET)]),
            ("set.same", TOPIC, None, [("retention.ms", "77", SET)]),
            ("set.unknown", TOPIC, None, [("no.such", "x", SET)]),
            ("delete", TOPIC, None, [("retention.ms", None, DELETE)]),
            ("delete.value", TOPIC, None, [("retention.ms", "x", DELETE)]),
            ("delete.unset", TOPIC, None, [("min.insync.replicas", None, DELETE)]),
            ("delete.unknown", TOPIC, None, [("no.such", None, DELETE)]),
            ("append", TOPIC, None, [("cleanup.policy", "delete", APPEND)]),
            ("append.again", TOPIC, None, [("cleanup.policy", "compact", APPEND)]),
            ("append.bad", TOPIC, None, [("cleanup.policy", "forget", APPEND)]),
            ("append.empty", TOPIC, None, [("cleanup.policy", "", APPEND)]),
            ("append.null", TOPIC, None, [("cleanup.policy", None, APPEND)]),
            ("append.default", TOPIC, None, [("follower.replication.throttled.replicas", "0:1", APPEND)]),
            ("append.no-list", TOPIC, None, [("retention.ms", "1", APPEND)]),
            ("append.unknown", TOPIC, None, [("no.such", "1", APPEND)]),
            ("subtract", TOPIC, None, [("cleanup.policy", "compact", SUBTRACT)]),
            ("subtract.absent", TOPIC, None, [("cleanup.policy", "delete", SUBTRACT)]),
            ("subtract.no-list", TOPIC, None, [("retention.ms", "1", SUBTRACT)]),
            ("twice", TOPIC, None, [("retention.ms", "5", SET), ("retention.ms", None, DELETE)]),
            ("topic.unknown", TOPIC, "nobody", [("retention.ms", "5", SET)]),
            ("topic.no-name", TOPIC, "", [("retention.ms", "5", SET)]),
            ("broker.other", BROKER, "2", [("log.retention.ms", "5", SET)]),
            ("broker.fixed", BROKER, "1", [("node.id", "7", SET)]),
            ("broker.fixed.delete", BROKER, "1", [("node.id", None, DELETE)]),
            ("broker.bad", BROKER, "", [("log.retention.ms", "x", SET)]),
            ("broker.everywhere", BROKER, "", [("log.cleaner.threads", "2", SET)]),
            ("broker.everywhere.back", BROKER, "", [("log.cleaner.threads", None, DELETE)]),
            ("broker.append.no-list", BROKER, "1", [("log.retention.ms", "5", APPEND)]),
            ("broker.operation.4", BROKER, "1", [("log.retention.ms", "5", 4)]),
            ("group.set", GROUP, None, [("consumer.session.timeout.ms", "50000", SET)]),
            ("group.range", GROUP, None, [("consumer.session.timeout.ms", "99999999", SET)]),
            ("group.unknown", GROUP, None, [("no.such", "1", SET)]),
        ):
            yield from _case(f"{prefix}.{word}", kind, resource, configs, version)


def _odd_resources() -> Iterator[Case]:
    for kind in (1, 3, 64, 99):
        for version, configs in ((2, [("a", "b")]), (1, [("a", "b", SET)])):
            change = altered(kind, "1", configs, validate_only=False, version=version)
            yield Case(f"configs.type.{kind}.{change.api.name}", (), (change,))
    for version in all_versions(ALTER_CONFIGS):
        resource = {"resource_type": TOPIC, "resource_name": SHARED.name, "configs": [{"name": "retention.ms", "value": "5"}]}
        other = {**resource, "resource_name": "nobody"}
        for word, resources in (("two", [resource, other]), ("nothing", [])):
            request = request_of(ALTER_CONFIGS, {"resources": resources, "validate_only": True})
            yield Case(f"configs.resources.v{version}.{word}", (SHARED,), (Send(ALTER_CONFIGS, version, request),))


def _listed() -> Iterator[Case]:
    for kinds in ([METRICS], [1], [0], [99], [METRICS, LOGGER], [BROKER], [LOGGER, LOGGER]):
        request = request_of(LIST_CONFIG_RESOURCES, {"resource_types": kinds})
        yield Case(f"configs.list.{'-'.join(map(str, kinds))}", (), (Send(LIST_CONFIG_RESOURCES, 1, request),))
