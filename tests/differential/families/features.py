"""Supported APIs and finalized features of a broker. Each case restores the features that it has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from struct import pack
from typing import Any

from odradek.protocol.messages.add_raft_voter import ADD_RAFT_VOTER
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.remove_raft_voter import REMOVE_RAFT_VOTER
from odradek.protocol.messages.unregister_broker import UNREGISTER_BROKER
from odradek.protocol.messages.update_features import UPDATE_FEATURES

from ..case import Case, Send, SendRaw, Topic, all_versions
from ..group_requests import ConsumerMember, describe_consumers
from ..requests import request_of

UPGRADE, SAFE, UNSAFE = 1, 2, 3
BETWEEN_BROKERS = (4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82)
"""The keys of APIs that only brokers and controllers send to each other: a listener for clients closes the connection."""
GROUPS, KRAFT, METADATA = "group.version", "kraft.version", "metadata.version"
REPLICAS, TRANSACTIONS = "eligible.leader.replicas.version", "transaction.version"
TOPIC = Topic("features-one")


def cases() -> Iterator[Case]:
    for make in (_listed, _updated, _refused, _unregistered, _voters, _between_brokers):
        yield from make()


def listed(version: int = 3) -> Send:
    fields = {"client_software_name": "test", "client_software_version": "1"}
    return Send(API_VERSIONS, version, request_of(API_VERSIONS, fields if version >= 3 else {}))


def update(*updates: tuple[str, int, int], version: int = 2, validate_only: bool = False) -> Send:
    """Returns an UpdateFeatures request; an update is the name of a feature, the new level and the upgrade type."""
    made: list[Mapping[str, Any]] = [
        {"feature": name, "max_version_level": level, **({"upgrade_type": kind} if version else {"allow_downgrade": kind > UPGRADE})}
        for name, level, kind in updates
    ]
    fields = {"feature_updates": made, **({"validate_only": validate_only} if version else {})}
    return Send(UPDATE_FEATURES, version, request_of(UPDATE_FEATURES, fields), settles=True)


def _listed() -> Iterator[Case]:
    for version in all_versions(API_VERSIONS):
        yield Case(f"features.listed.v{version}", (), (listed(version),))


def _updated() -> Iterator[Case]:
    def there_and_back(name: str, down: Send, up: Send) -> Case:
        return Case(f"features.update.{name}", (), (down, listed(), up, listed()))

    for version in all_versions(UPDATE_FEATURES):
        down, up = update((TRANSACTIONS, 1, SAFE), version=version), update((TRANSACTIONS, 2, UPGRADE), version=version)
        yield Case(f"features.update.v{version}.same", (), (up, listed()))
        yield there_and_back(f"v{version}.down", down, up)
        yield Case(f"features.update.v{version}.nothing", (), (update(version=version),))
    for version in (1, 2):
        down, up = update((TRANSACTIONS, 0, UNSAFE), version=version), update((TRANSACTIONS, 2, UPGRADE), version=version)
        yield there_and_back(f"v{version}.unsafe", down, up)
        dry = update((TRANSACTIONS, 1, SAFE), version=version, validate_only=True)
        yield Case(f"features.update.v{version}.validated", (), (dry, listed()))
    two = update((TRANSACTIONS, 1, SAFE), (REPLICAS, 0, SAFE)), update((TRANSACTIONS, 2, UPGRADE), (REPLICAS, 1, UPGRADE))
    yield there_and_back("two", *two)
    member = ConsumerMember("features.groups", "m")
    used = member.join(TOPIC.name), describe_consumers("features.groups")
    yield Case(
        "features.update.groups",
        (TOPIC,),
        (
            *used,
            update((GROUPS, 0, SAFE)),
            *used,
            describe_consumers("x", "y"),
            update((GROUPS, 1, UPGRADE)),
            *used,
            member.leave(),
        ),
    )


def _refused() -> Iterator[Case]:
    for word, updates in (
        ("unknown", [("no.such", 1, UPGRADE)]),
        ("unknown-zero", [("no.such", 0, UPGRADE)]),
        ("empty", [("", 1, UPGRADE)]),
        ("negative", [(TRANSACTIONS, -1, SAFE)]),
        ("too-high", [(TRANSACTIONS, 3, UPGRADE)]),
        ("down-by-upgrade", [(TRANSACTIONS, 1, UPGRADE)]),
        ("up-by-downgrade", [(METADATA, 31, SAFE)]),
        ("same-by-downgrade", [(TRANSACTIONS, 2, SAFE)]),
        ("type-0", [(TRANSACTIONS, 1, 0)]),
        ("type-4", [(TRANSACTIONS, 1, 4)]),
        ("type--1", [(TRANSACTIONS, 1, -1)]),
        ("metadata-same", [(METADATA, 30, UPGRADE)]),
        ("metadata-high", [(METADATA, 31, UPGRADE)]),
        ("metadata-zero", [(METADATA, 0, SAFE)]),
        ("metadata-low", [(METADATA, 6, UNSAFE)]),
        ("metadata-unsafe", [(METADATA, 7, UNSAFE)]),
        ("metadata-safe", [(METADATA, 7, SAFE)]),
        ("metadata-by-upgrade", [(METADATA, 29, UPGRADE)]),
        ("kraft-high", [("kraft.version", 2, UPGRADE)]),
        ("kraft-negative", [("kraft.version", -1, SAFE)]),
        ("twice", [(TRANSACTIONS, 1, SAFE), (TRANSACTIONS, 0, SAFE)]),
        ("good-and-bad", [(TRANSACTIONS, 1, SAFE), ("no.such", 1, UPGRADE)]),
        ("bad-and-bad", [("no.such", 1, UPGRADE), ("nor.this", 1, UPGRADE)]),
    ):
        for version in all_versions(UPDATE_FEATURES):
            if version or not word.startswith("type-"):
                yield Case(f"features.refused.v{version}.{word}", (), (update(*updates, version=version), listed()))
                if version:
                    dry = update(*updates, version=version, validate_only=True)
                    yield Case(f"features.refused.v{version}.{word}.validated", (), (dry,))


def _unregistered() -> Iterator[Case]:
    for node in (-1, 0, 9):
        request = request_of(UNREGISTER_BROKER, {"broker_id": node})
        yield Case(f"features.unregister.{node}", (), (Send(UNREGISTER_BROKER, 0, request),))


def _voters() -> Iterator[Case]:
    """Yields the last cases, because they set kraft.version 1 (dynamic voters), which cannot be downgraded."""
    voter = {"cluster_id": None, "voter_id": 7, "voter_directory_id": bytes(range(16))}
    listener = {"name": "CONTROLLER", "host": "localhost", "port": 1}
    added = {**voter, "timeout_ms": 100, "listeners": [listener]}
    strange: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("plain", {}),
        ("cluster", {"cluster_id": "other"}),
        ("negative", {"voter_id": -1}),
        ("present", {"voter_id": 1}),
        ("directory", {"voter_directory_id": bytes(16)}),
    )

    def voter_requests(when: str) -> Iterator[Case]:
        for word, fields in strange:
            request = request_of(REMOVE_RAFT_VOTER, {**voter, **fields})
            yield Case(f"features.voters.{when}.remove.{word}", (), (Send(REMOVE_RAFT_VOTER, 0, request),))
        for word, fields in (*strange, ("listeners", {"listeners": []}), ("listener", {"listeners": [{**listener, "name": "OTHER"}]})):
            for version in all_versions(ADD_RAFT_VOTER):
                request = request_of(ADD_RAFT_VOTER, {**added, **fields})
                yield Case(f"features.voters.{when}.add.v{version}.{word}", (), (Send(ADD_RAFT_VOTER, version, request),))

    yield from voter_requests("static")
    up, dry = update((KRAFT, 1, UPGRADE)), update((KRAFT, 1, UPGRADE), validate_only=True)
    yield Case("features.voters.upgrade", (), (dry, listed(), up, listed(), up))
    for word, kind in (("upgrade", UPGRADE), ("safe", SAFE), ("unsafe", UNSAFE)):
        yield Case(f"features.voters.downgrade.{word}", (), (update((KRAFT, 0, kind)), listed()))
    yield from voter_requests("dynamic")


def _between_brokers() -> Iterator[Case]:
    for key in BETWEEN_BROKERS:
        for version in (0, 1, 4):
            body = pack(">hhih", key, version, 7, -1) + bytes(40)
            yield Case(f"features.between-brokers.{key}.v{version}", (), (SendRaw(pack(">i", len(body)) + body), listed()))
