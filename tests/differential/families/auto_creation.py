"""Topics that are created because a client asks for their metadata. One node, as the places of replicas are drawn."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS
from odradek.protocol.messages.metadata import METADATA
from odradek.protocol.schema import ZERO_UUID

from ..asking import request_of
from ..script import Ask, Case, Pause, all_versions

SETTINGS = {"auto.create.topics.enable": "true", "num.partitions": "3"}
UNTIL_KNOWN = Pause(1000)


def cases() -> Iterator[Case]:
    for version in all_versions(METADATA):
        name = f"auto_creation.v{version}"
        yield Case(f"{name}.first", (), (asked(version, f"{name}.first"),))
        yield Case(f"{name}.then", (), (asked(version, f"{name}.then"),), (asked(version, f"{name}.then"), UNTIL_KNOWN))
        for word, topic in (("name-slash", "a/b"), ("name-empty", ""), ("name-long", "a" * 250)):
            yield Case(f"{name}.{word}", (), (asked(version, topic),))
        if version:
            yield Case(f"{name}.none", (), (asked(version),))
            yield Case(f"{name}.existing", (), (asked(version, "__consumer_offsets"),))
        if version >= 4:
            yield Case(
                f"{name}.forbidden", (), (asked(version, "nobody", allowed=False), UNTIL_KNOWN, asked(version, "nobody", allowed=False))
            )
    several = ["auto_creation.several.one", "auto_creation.several.two"]
    yield Case("auto_creation.several.then", (), (asked(12, *several),), (asked(12, *several), UNTIL_KNOWN))
    colliding = ["auto_creation.dot.ted", "auto_creation.dot_ted"]
    yield Case(
        "auto_creation.colliding.then",
        (),
        (asked(12, colliding[1]), UNTIL_KNOWN, asked(12, *colliding)),
        (asked(12, colliding[0]), UNTIL_KNOWN),
    )
    name = "auto_creation.configs.then"
    wanted = {"resources": [{"resource_type": 2, "resource_name": name, "configuration_keys": ["retention.ms", "cleanup.policy"]}]}
    configs = Ask(DESCRIBE_CONFIGS, 4, request_of(DESCRIBE_CONFIGS, wanted))
    yield Case(name, (), (configs,), (asked(12, name), UNTIL_KNOWN))


def asked(version: int, *names: str, allowed: bool = True) -> Ask:
    """The metadata of topics, which are to be created if they are not there and creation is `allowed`."""
    wanted = [{"name": name, "topic_id": ZERO_UUID} for name in names]
    return Ask(METADATA, version, request_of(METADATA, {"topics": wanted, "allow_auto_topic_creation": allowed}))
