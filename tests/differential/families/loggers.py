"""The log levels of a broker as configs of BROKER_LOGGER resources (KIP-412). Each case sets the level again that it has changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..case import Case, Send
from .configs import APPEND, DELETE, LOGGER, SET, SUBTRACT, altered, describe

ONE, OTHER = "kafka.network.SocketServer", "kafka.log.LogManager"
SHOWN = [ONE, OTHER, "no.such"]
HANDLERS = ["kafka.server.KafkaRequestHandler", "org.apache.kafka.server.quota.ClientQuotaManager$ThrottledChannelReaper"]
BEGUN = (altered(LOGGER, "1", [("root", "INFO", SET)], validate_only=False, version=1),)
"""Kafka's default level. Ours is that of the program in which the cluster runs."""


def cases() -> Iterator[Case]:
    for make in (_described, _changed):
        for case in make():
            yield case._replace(before=BEGUN)


def change(*configs: tuple[Any, ...], name: str = "1", validate_only: bool = False, version: int = 1) -> Send:
    return altered(LOGGER, name, list(configs), validate_only=validate_only, version=version)


def _described() -> Iterator[Case]:
    for version in (1, 2, 3, 4):
        for word, name, keys in (("own", "1", SHOWN), ("root", "1", ["root"]), ("none", "1", ["no.such"]), ("handlers", "1", HANDLERS)):
            options = {"include_synonyms": True}
            yield Case(f"loggers.described.v{version}.{word}", (), (describe(LOGGER, name, keys, version, **options),))
        for word, name in (("empty", ""), ("other", "2"), ("text", "x"), ("negative", "-1")):
            yield Case(f"loggers.described.v{version}.{word}", (), (describe(LOGGER, name, SHOWN, version),))
    yield Case("loggers.described.documented", (), (describe(LOGGER, "1", SHOWN, include_documentation=True),))


Change = tuple[str, tuple[tuple[str, str | None, int], ...]]


def _changes() -> Iterator[Change]:
    """Yields names of cases with the configs that they change."""
    yield "none", ()
    for level in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"):
        yield f"set.{level}", ((ONE, level, SET),)
    for level in ("OFF", "ALL", "info", "Debug", "", "10"):
        yield f"set.bad.{level}", ((ONE, level, SET),)
    yield (
        "set.two",
        (
            (ONE, "DEBUG", SET),
            (OTHER, "WARN", SET),
        ),
    )
    yield (
        "set.good-and-bad",
        (
            (ONE, "DEBUG", SET),
            (OTHER, "x", SET),
        ),
    )
    yield "set.unknown", (("no.such", "DEBUG", SET),)
    yield "set.no-name", (("", "DEBUG", SET),)
    yield "set.blank", ((" ", "DEBUG", SET),)
    yield "set.null", ((ONE, None, SET),)
    yield (
        "set.twice",
        (
            (ONE, "DEBUG", SET),
            (ONE, "INFO", SET),
        ),
    )
    yield "root.bad", (("root", "x", SET),)
    yield "root.delete", (("root", None, DELETE),)
    yield "root.delete-with-value", (("root", "INFO", DELETE),)
    yield "delete", ((ONE, None, DELETE),)
    yield "delete.with-value", ((ONE, "INFO", DELETE),)
    yield "delete.unknown", (("no.such", None, DELETE),)
    yield "append", ((ONE, "INFO", APPEND),)
    yield "append.unknown", (("no.such", "INFO", APPEND),)
    yield "subtract", ((ONE, "INFO", SUBTRACT),)
    yield "operation", ((ONE, "INFO", 9),)


def _changed() -> Iterator[Case]:
    for word, configs in _changes():
        for version in (0, 1):
            name = f"loggers.change.v{version}.{word}"
            ends = change((ONE, None, DELETE), (OTHER, None, DELETE))
            steps = (change(*configs, version=version), describe(LOGGER, "1", SHOWN), ends, describe(LOGGER, "1", SHOWN))
            yield Case(name, (), steps)
            yield Case(f"{name}.validated", (), (change(*configs, version=version, validate_only=True), describe(LOGGER, "1", SHOWN)))
    for word, name in (("empty", ""), ("other", "2"), ("text", "x"), ("negative", "-1")):
        yield Case(f"loggers.change.broker.{word}", (), (change((ONE, "DEBUG", SET), name=name), describe(LOGGER, "1", SHOWN)))
        yield Case(f"loggers.change.broker.{word}.nothing", (), (change(name=name),))
    for version in (0, 1, 2):
        for validate_only in (True, False):
            replaced = altered(LOGGER, "1", [(ONE, "DEBUG")], validate_only=validate_only, version=version)
            yield Case(f"loggers.replaced.v{version}{'.validated' * validate_only}", (), (replaced, describe(LOGGER, "1", SHOWN)))
