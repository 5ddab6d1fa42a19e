"""Quotas of users, client ids and addresses: altering, refusals, and filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from odradek.protocol.messages.alter_client_quotas import ALTER_CLIENT_QUOTAS
from odradek.protocol.messages.describe_client_quotas import DESCRIBE_CLIENT_QUOTAS

from ..case import Case, Send, all_versions
from ..requests import request_of

Entity = Sequence[tuple[str, str | None]]
EXACT, DEFAULT, ANY = 0, 1, 2
RATES = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
RATE = ("producer_byte_rate", 1000.0)
MIXED: Sequence[Entity] = (
    (("user", "mixed"),),
    (("user", None),),
    (("client-id", "mixed"),),
    (("client-id", None),),
    (("user", "mixed"), ("client-id", "mixed")),
    (("user", "mixed"), ("client-id", None)),
    (("user", None), ("client-id", "mixed")),
    (("user", None), ("client-id", None)),
    (("ip", "127.0.0.9"),),
    (("ip", None),),
)


def cases() -> Iterator[Case]:
    for make in (_altered, _refused, _several, _filtered):
        yield from make()


def op(key: str, value: float | None) -> Mapping[str, Any]:
    """Returns an operation that sets a quota, or removes it if it has no value."""
    return {"key": key, "value": value or 0.0, "remove": value is None}


def alter(*entries: tuple[Entity, Sequence[Mapping[str, Any]]], version: int = 1, validate_only: bool = False) -> Send:
    made = [{"entity": [{"entity_type": kind, "entity_name": name} for kind, name in entity], "ops": list(ops)} for entity, ops in entries]
    request = request_of(ALTER_CLIENT_QUOTAS, {"entries": made, "validate_only": validate_only})
    return Send(ALTER_CLIENT_QUOTAS, version, request, settles=True)


def describe(*components: tuple[str, int, str | None], strict: bool = False, version: int = 1, in_order: bool = False) -> Send:
    made = [{"entity_type": kind, "match_type": how, "match": match} for kind, how, match in components]
    return Send(
        DESCRIBE_CLIENT_QUOTAS, version, request_of(DESCRIBE_CLIENT_QUOTAS, {"components": made, "strict": strict}), in_order=in_order
    )


def _altered() -> Iterator[Case]:
    for version in all_versions(ALTER_CLIENT_QUOTAS):
        name = f"quotas.alter.v{version}"
        user, shown = (("user", name),), describe(("user", EXACT, name), version=version)
        two = [op(*RATE), op("request_percentage", 12.5)]
        yield Case(
            name,
            (),
            (
                alter((user, two), version=version, validate_only=True),
                shown,
                alter((user, two), version=version),
                shown,
                alter((user, [op("producer_byte_rate", 2000.0), op("request_percentage", None)]), version=version),
                shown,
                alter((user, [op("consumer_byte_rate", None)]), version=version),
                alter((user, []), version=version),
                shown,
                alter((user, [op("producer_byte_rate", None)]), version=version),
                shown,
            ),
        )
    for kind in ("user", "client-id"):
        entity = ((kind, f"quotas.all.{kind}"),)
        yield Case(f"quotas.all.{kind}", (), (alter((entity, [op(key, 7.0) for key in RATES])), describe((kind, EXACT, entity[0][1]))))
    first, second, third = RATES[:3]
    orders: dict[str, list[list[str]]] = {
        "at-once": [[first, second, third]],
        "at-once-backwards": [[third, second, first]],
        "one-by-one": [[first], [third], [second]],
        "one-by-one-backwards": [[third], [second], [first]],
        "all": [[*RATES]],
        "all-one-by-one": [[rate] for rate in RATES],
    }
    for name, alterations in orders.items():
        entity = (("user", f"quotas.order.{name}"),)
        shown = describe(("user", EXACT, entity[0][1]), in_order=True)
        sent = [alter((entity, [op(key, 7.0) for key in keys])) for keys in alterations]
        yield Case(f"quotas.order.{name}", (), (*sent, shown, alter((entity, [op(RATES[1], None)])), shown))
    address = (("ip", "127.0.0.7"),)
    yield Case("quotas.all.ip", (), (alter((address, [op("connection_creation_rate", 7.0)])), describe(("ip", EXACT, "127.0.0.7"))))


def _refused() -> Iterator[Case]:
    def user(word: str) -> Entity:
        return (("user", f"quotas.refused.{word}"),)

    for word, entity, ops in (
        ("no-entity", (), [op(*RATE)]),
        ("empty-name", (("user", ""),), [op(*RATE)]),
        ("empty-client", (("client-id", ""),), [op(*RATE)]),
        ("empty-ip", (("ip", ""),), [op("connection_creation_rate", 1.0)]),
        ("type", (("group", "g"),), [op(*RATE)]),
        ("no-type", (("", "g"),), [op(*RATE)]),
        ("type-twice", (("user", "a"), ("user", "b")), [op(*RATE)]),
        ("ip-and-user", (("ip", "127.0.0.1"), ("user", "u")), [op("connection_creation_rate", 1.0)]),
        ("bad-ip", (("ip", "1.2.3.4.5"),), [op("connection_creation_rate", 1.0)]),
        ("ip-six", (("ip", "::1"),), [op("connection_creation_rate", 1.0)]),
        ("ip-rate", (("ip", "127.0.0.1"),), [op(*RATE)]),
        ("ip-fraction", (("ip", "127.0.0.1"),), [op("connection_creation_rate", 1.5)]),
        ("ip-too-large", (("ip", "127.0.0.1"),), [op("connection_creation_rate", 2.0**31)]),
        ("user-connections", user("connections"), [op("connection_creation_rate", 1.0)]),
        ("unknown-key", user("unknown"), [op("no_such", 1.0)]),
        ("unknown-key-removed", user("removed"), [op("no_such", None)]),
        ("zero", user("zero"), [op("producer_byte_rate", 0.0)]),
        ("negative", user("negative"), [op("producer_byte_rate", -1.0)]),
        ("fraction", user("fraction"), [op("producer_byte_rate", 1.5)]),
        ("percentage-fraction", user("percentage"), [op("request_percentage", 0.25)]),
        ("almost-whole", user("almost"), [op("producer_byte_rate", 1.0000001)]),
        ("too-large", user("large"), [op("producer_byte_rate", 1e19)]),
        ("largest", user("largest"), [op("producer_byte_rate", 2.0**63)]),
        ("infinite", user("infinite"), [op("request_percentage", float("inf"))]),
        ("infinite-rate", user("infinite-rate"), [op("producer_byte_rate", float("inf"))]),
        ("no-number", user("no-number"), [op("request_percentage", float("nan"))]),
        ("no-number-rate", user("no-number-rate"), [op("producer_byte_rate", float("nan"))]),
        ("key-twice", user("twice"), [op(*RATE), op("producer_byte_rate", 2.0)]),
        ("key-twice-removed", user("twice-removed"), [op(*RATE), op("producer_byte_rate", None)]),
        ("good-and-bad", user("mixed"), [op(*RATE), op("no_such", 1.0)]),
        ("case", (("User", "u"),), [op(*RATE)]),
    ):
        for validate_only in (True, False):
            shown = () if validate_only or not entity or entity[0][0] != "user" else (describe(("user", EXACT, entity[0][1])),)
            name = f"quotas.refused.{word}" + ".validated" * validate_only
            yield Case(name, (), (alter((entity, ops), validate_only=validate_only), *shown))


def _several() -> Iterator[Case]:
    one, two = (("user", "quotas.several.one"),), (("user", "quotas.several.two"),)
    both = describe(("user", EXACT, "quotas.several.one")), describe(("user", EXACT, "quotas.several.two"))
    yield Case("quotas.several.good-and-bad", (), (alter((one, [op(*RATE)]), (two, [op("no_such", 1.0)])), *both))
    yield Case("quotas.several.twice", (), (alter((one, [op(*RATE)]), (one, [op("request_percentage", 1.0)])), *both))
    yield Case("quotas.several.thrice", (), (alter(*[(two, [op("request_percentage", 1.0 + n)]) for n in range(3)]), *both))
    yield Case("quotas.several.none", (), (alter(),))
    for word, entity in (("swapped", (("client-id", "x"), ("user", "x"))), ("straight", (("user", "x"), ("client-id", "x")))):
        yield Case(f"quotas.several.{word}", (), (alter((entity, [op(*RATE)])), describe(("user", EXACT, "x"), ("client-id", EXACT, "x"))))


def _filtered() -> Iterator[Case]:
    keys = {entity: "connection_creation_rate" if entity[0][0] == "ip" else "producer_byte_rate" for entity in MIXED}
    yield Case("quotas.filter.make", (), (alter(*[(entity, [op(key, 10.0 + n)]) for n, (entity, key) in enumerate(keys.items())]),))
    kinds = {"exact": (EXACT, "mixed"), "default": (DEFAULT, None), "any": (ANY, None), "nobody": (EXACT, "nobody")}
    filters: list[tuple[str, list[tuple[str, int, str | None]]]] = [("all", [])]
    for word, (how, match) in kinds.items():
        filters += [(f"user-{word}", [("user", how, match)]), (f"client-{word}", [("client-id", how, match)])]
        filters += [
            (f"user-{word}.client-{other}", [("user", how, match), ("client-id", *kinds[other])]) for other in kinds if other != "nobody"
        ]
    filters += [("ip-exact", [("ip", EXACT, "127.0.0.9")]), ("ip-default", [("ip", DEFAULT, None)]), ("ip-any", [("ip", ANY, None)])]
    filters += [("client-first", [("client-id", ANY, None), ("user", ANY, None)])]
    filters += [("ip-and-user", [("ip", ANY, None), ("user", ANY, None)]), ("type", [("group", ANY, None)]), ("no-type", [("", ANY, None)])]
    filters += [
        ("twice", [("user", ANY, None), ("user", DEFAULT, None)]),
        ("type-3", [("user", 3, None)]),
        ("type--1", [("user", -1, None)]),
    ]
    filters += [("exact-null", [("user", EXACT, None)]), ("default-text", [("user", DEFAULT, "u")]), ("any-text", [("user", ANY, "u")])]
    filters += [("case", [("User", ANY, None)]), ("type-and-twice", [("user", ANY, None), ("group", 9, None), ("user", ANY, None)])]
    for word, components in filters:
        for strict in (False, True):
            shown = tuple(describe(*components, strict=strict, version=version) for version in all_versions(DESCRIBE_CLIENT_QUOTAS))
            yield Case(f"quotas.filter.{word}" + ".strict" * strict, (), shown)
