"""Subscriptions to client metrics (KIP-714): their configs, and which clients get which subscription."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS
from odradek.protocol.messages.list_config_resources import LIST_CONFIG_RESOURCES
from odradek.protocol.messages.push_telemetry import PUSH_TELEMETRY

from ..case import Case, Pause, Send, Step, all_versions
from ..requests import request_of
from .configs import APPEND, DELETE, METRICS, SET, SUBTRACT, altered, describe

CLEARED = (("metrics", None, DELETE), ("interval.ms", None, DELETE), ("match", None, DELETE))
NOBODY = ("match", "client_id=nobody", SET)
"""Matches no client, so that the subscriptions of one case do not reach the clients of others."""


def cases() -> Iterator[Case]:
    for make in (_changed, _replaced, _described, _matched, _combined, _pushed):
        yield from make()


def change(name: str, *configs: tuple[Any, ...], validate_only: bool = False, version: int = 1) -> Send:
    return altered(METRICS, name, list(configs), validate_only=validate_only, version=version)


def listed(version: int = 0, **fields: Any) -> Send:
    return Send(LIST_CONFIG_RESOURCES, version, request_of(LIST_CONFIG_RESOURCES, fields))


def subscribe(instance: bytes, *, client_id: str = "test", connection: str = "", node: int = 1) -> Send:
    fields = {"client_instance_id": instance}
    request = request_of(GET_TELEMETRY_SUBSCRIPTIONS, fields)
    return Send(GET_TELEMETRY_SUBSCRIPTIONS, 0, request, client_id=client_id, connection=connection, node=node)


def instance_of(number: int) -> bytes:
    """Returns a client instance id. Its subscription id follows from it, because the numbers are far from those of random ids."""
    return b"\7" * 12 + number.to_bytes(4, "big")


def _changed() -> Iterator[Case]:
    """Each change, with what it leaves; the subscription begins with two metrics."""
    for word, *configs in (
        ("none",),
        ("interval", ("interval.ms", "1000", SET)),
        ("interval.low", ("interval.ms", "99", SET)),
        ("interval.least", ("interval.ms", "100", SET)),
        ("interval.most", ("interval.ms", "3600000", SET)),
        ("interval.high", ("interval.ms", "3600001", SET)),
        ("interval.text", ("interval.ms", "x", SET)),
        ("interval.empty", ("interval.ms", "", SET)),
        ("interval.long", ("interval.ms", "99999999999", SET)),
        ("interval.null", ("interval.ms", None, SET)),
        ("interval.append", ("interval.ms", "5", APPEND)),
        ("interval.subtract", ("interval.ms", "5", SUBTRACT)),
        ("interval.delete", ("interval.ms", None, DELETE)),
        ("metrics.one", ("metrics", "c", SET)),
        ("metrics.all", ("metrics", "*", SET)),
        ("metrics.all-and-one", ("metrics", "*,x", SET)),
        ("metrics.empty", ("metrics", "", SET)),
        ("metrics.twice", ("metrics", "a,a", SET)),
        ("metrics.hole", ("metrics", "a,,b", SET)),
        ("metrics.blanks", ("metrics", " a , b ", SET)),
        ("metrics.append", ("metrics", "c", APPEND)),
        ("metrics.append-same", ("metrics", "a", APPEND)),
        ("metrics.subtract", ("metrics", "a", SUBTRACT)),
        ("metrics.subtract-all", ("metrics", "a,b", SUBTRACT)),
        ("metrics.subtract-other", ("metrics", "x", SUBTRACT)),
        ("metrics.delete", ("metrics", None, DELETE)),
        ("match.id", ("match", "client_id=nobody.*", SET)),
        ("match.two", ("match", "client_id=nobody,client_software_name=x", SET)),
        ("match.blanks", ("match", " client_id = nobody ", SET)),
        ("match.all", ("match", "client_id=nobody,client_source_address=1.2.3.4,client_source_port=1,client_software_version=9", SET)),
        ("match.unknown", ("match", "nobody=x", SET)),
        ("match.case", ("match", "CLIENT_ID=x", SET)),
        ("match.no-value", ("match", "client_id", SET)),
        ("match.empty-value", ("match", "client_id=", SET)),
        ("match.two-signs", ("match", "client_id=a=b", SET)),
        ("match.bad-pattern", ("match", "client_id=[", SET)),
        ("match.append", ("match", "client_software_name=x", APPEND)),
        ("match.subtract", ("match", "client_id=nobody", SUBTRACT)),
        ("unknown", ("no.such", "x", SET)),
        ("unknown.delete", ("no.such", None, DELETE)),
        ("unknown.append", ("no.such", "x", APPEND)),
        ("twice", ("metrics", "a", SET), ("metrics", "b", SET)),
        ("two-bad", ("interval.ms", "x", SET), ("no.such", "x", SET)),
        ("all", *CLEARED),
    ):
        for validate_only in (True, False):
            name = f"client_metrics.change.{word}" + ".validated" * validate_only
            begun = change(name, ("metrics", "a,b", SET), NOBODY)
            yield Case(
                name,
                (),
                (change(name, *configs, validate_only=validate_only), describe(METRICS, name, None, include_synonyms=True), listed()),
                before=(begun,),
            )
            yield Case(f"{name}.end", (), (change(name, *CLEARED), listed()))
    yield Case("client_metrics.change.no-name", (), (change("", ("metrics", "a", SET)), listed()))
    yield Case("client_metrics.change.v0", (), (change("client_metrics.change.v0", ("metrics", "a", SET), NOBODY, version=0), listed()))
    yield Case("client_metrics.change.v0.end", (), (change("client_metrics.change.v0", *CLEARED, version=0), listed()))


def _replaced() -> Iterator[Case]:
    """AlterConfigs, which replaces all configs of a subscription."""
    for word, *configs in (
        ("none",),
        ("one", ("metrics", "c")),
        ("all", ("metrics", "c"), ("interval.ms", "2000"), ("match", "client_id=nobody")),
        ("unknown", ("no.such", "c")),
        ("null", ("metrics", None)),
        ("bad", ("interval.ms", "1")),
    ):
        for version in (0, 1, 2):
            name = f"client_metrics.replace.v{version}.{word}"
            begun = change(name, ("metrics", "a,b", SET), NOBODY)
            replaced = altered(METRICS, name, configs, validate_only=False, version=version)
            yield Case(name, (), (replaced, describe(METRICS, name, None), change(name, *CLEARED), listed()), before=(begun,))


def _described() -> Iterator[Case]:
    name = "client_metrics.described"
    begun = change(name, ("metrics", "a,b", SET), NOBODY)
    for version in (1, 2, 3, 4):
        for word, keys in (("all", None), ("none", []), ("some", ["metrics", "no.such"])):
            for options in ({}, {"include_synonyms": True}, {"include_documentation": True}):
                case = f"{name}.v{version}.{word}" + "".join(f".{option}" for option in options)
                if version >= 3 or "include_documentation" not in options:
                    yield Case(case, (), (describe(METRICS, name, keys, version, **options),), before=(begun,))
    types = [listed(1, resource_types=kinds) for kinds in ([METRICS], [METRICS, 32], [METRICS, 99])]
    yield Case(f"{name}.listed", (), (*(listed(version) for version in all_versions(LIST_CONFIG_RESOURCES)), *types), before=(begun,))
    yield Case(f"{name}.end", (), (change(name, *CLEARED), listed()))


def _matched() -> Iterator[Case]:
    """Which clients a pattern matches. The client of a case has the name of the case as its id."""
    introduced = request_of(API_VERSIONS, {"client_software_name": "our-client", "client_software_version": "1.2.3"})
    instance = instance_of(1)
    uuid = "07070707-0707-0707-0707-070700000001"
    encoded = "BwcHBwcHBwcHBwcHAAAAAQ"
    for number, (word, pattern) in enumerate(
        (
            ("id", "client_id=client_metrics.match.id"),
            ("id-prefix", "client_id=client_metrics.match"),
            ("id-pattern", "client_id=client_metrics\\.match\\.id-p.*"),
            ("id-case", "client_id=CLIENT_METRICS.*"),
            ("name", "client_id=client_metrics.match.name,client_software_name=our-.*"),
            ("name-other", "client_id=client_metrics.match.name-other,client_software_name=other"),
            ("version", "client_id=client_metrics.match.version,client_software_version=1\\.2\\..*"),
            ("address", "client_id=client_metrics.match.address,client_source_address=127.0.0.1"),
            ("address-other", "client_id=client_metrics.match.address-other,client_source_address=127.0.0.2"),
            ("port", "client_id=client_metrics.match.port,client_source_port=[0-9]+"),
            ("instance", f"client_id=client_metrics.match.instance,client_instance_id={uuid}"),
            ("instance-encoded", f"client_id=client_metrics.match.instance-encoded,client_instance_id={encoded}"),
            ("twice", "client_id=nobody,client_id=client_metrics.match.twice"),
        ),
        10,
    ):
        name = f"client_metrics.match.{word}"
        instance = instance_of(1) if "instance" in word else instance_of(number)
        begun = change(name, ("metrics", "a.b,c", SET), ("interval.ms", "1000", SET), ("match", pattern, SET))
        hello = Send(API_VERSIONS, 3, introduced, client_id=name)
        steps: tuple[Step, ...] = (subscribe(instance, client_id=name),)
        yield Case(name, (), steps, before=(begun, hello))
        unknown = subscribe(instance_of(100 + number), client_id=name, connection="without-a-name")
        yield Case(f"{name}.unnamed", (), (unknown,))
        yield Case(f"{name}.end", (), (change(name, *CLEARED), Pause(1000), subscribe(instance, client_id=name)))


def _combined() -> Iterator[Case]:
    """Several subscriptions that match one client: the union of their metrics, at the shortest interval."""
    many = ("org.apache.kafka.producer.,org.apache.kafka.consumer.", "500"), ("x,y,z,w,v,u,t", "700"), ("s,r,q,p,o,n", "900")
    combined: dict[str, tuple[tuple[str, str], ...]] = {
        "two": (("a,b", "1000"), ("b,c", "2000")),
        "many": many,
        "all": (("*", "1000"), ("b,c", "2000")),
        "empty": (("", "1000"), ("b", "400000")),
        "none": (("", "3000000"),),
    }
    for number, (word, subscriptions) in enumerate(combined.items(), 200):
        name = f"client_metrics.combined.{word}"
        begun = tuple(
            change(f"{name}.{index}", ("metrics", metrics, SET), ("interval.ms", interval, SET), ("match", f"client_id={name}", SET))
            for index, (metrics, interval) in enumerate(subscriptions)
        )
        asked = subscribe(instance_of(number), client_id=name)
        ends = tuple(change(f"{name}.{index}", *CLEARED) for index in range(len(subscriptions)))
        yield Case(name, (), (asked, *ends, asked, asked), before=begun)


def _pushed() -> Iterator[Case]:
    name, instance = "client_metrics.pushed", instance_of(300)
    # CRC-32C of "[a]100", exclusive or the words of the instance id.
    subscription = -2_003_031_231

    def push(number: int, **fields: Any) -> Send:
        given = {"client_instance_id": instance, "subscription_id": number, "terminating": False, "compression_type": 0, "metrics": b""}
        return Send(PUSH_TELEMETRY, 0, request_of(PUSH_TELEMETRY, {**given, **fields}), client_id=name)

    begun = change(name, ("metrics", "a", SET), ("interval.ms", "100", SET), ("match", f"client_id={name}", SET))
    asked = subscribe(instance, client_id=name)
    yield Case(
        name,
        (),
        (
            asked,
            push(subscription),
            push(subscription),
            Pause(150),
            push(subscription, metrics=b"\1\2"),
            asked,
            Pause(150),
            asked,
            Pause(150),
            push(1),
            asked,
            Pause(150),
            push(subscription, compression_type=9),
            asked,
            Pause(150),
            change(name, ("metrics", "b", SET)),
            push(subscription),
            asked,
            change(name, ("metrics", "a", SET)),
            push(subscription, terminating=True),
            push(subscription),
            Pause(150),
            asked,
            change(name, *CLEARED),
            asked,
        ),
        before=(begun,),
    )
