"""Topics that are created because a client requests their metadata.

The cluster has one node, because Kafka places the replicas at random.
"""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS
from odradek.protocol.messages.metadata import METADATA
from odradek.protocol.schema import ZERO_UUID

from ..case import Case, Pause, Send, all_versions
from ..requests import request_of

SETTINGS = {"auto.create.topics.enable": "true", "num.partitions": "3"}
UNTIL_KNOWN = Pause(1000)


def cases() -> Iterator[Case]:
    for version in all_versions(METADATA):
        name = f"auto_creation.v{version}"
        yield Case(f"{name}.first", (), (metadata(version, f"{name}.first"),))
        yield Case(f"{name}.then", (), (metadata(version, f"{name}.then"),), (metadata(version, f"{name}.then"), UNTIL_KNOWN))
        for word, topic in (("name-slash", "a/b"), ("name-empty", ""), ("name-long", "a" * 250)):
            yield Case(f"{name}.{word}", (), (metadata(version, topic),))
        if version:
            yield Case(f"{name}.none", (), (metadata(version),))
            yield Case(f"{name}.existing", (), (metadata(version, "__consumer_offsets"),))
        if version >= 4:
            yield Case(
                f"{name}.forbidden",
                (),
                (metadata(version, "nobody", allowed=False), UNTIL_KNOWN, metadata(version, "nobody", allowed=False)),
            )
    several = ["auto_creation.several.one", "auto_creation.several.two"]
    yield Case("auto_creation.several.then", (), (metadata(12, *several),), (metadata(12, *several), UNTIL_KNOWN))
    colliding = ["auto_creation.dot.ted", "auto_creation.dot_ted"]
    yield Case(
        "auto_creation.colliding.then",
        (),
        (metadata(12, colliding[1]), UNTIL_KNOWN, metadata(12, *colliding)),
        (metadata(12, colliding[0]), UNTIL_KNOWN),
    )
    name = "auto_creation.configs.then"
    wanted = {"resources": [{"resource_type": 2, "resource_name": name, "configuration_keys": ["retention.ms", "cleanup.policy"]}]}
    configs = Send(DESCRIBE_CONFIGS, 4, request_of(DESCRIBE_CONFIGS, wanted))
    yield Case(name, (), (configs,), (metadata(12, name), UNTIL_KNOWN))


def metadata(version: int, *names: str, allowed: bool = True) -> Send:
    """Returns a Metadata request that creates missing topics if `allowed`."""
    wanted = [{"name": name, "topic_id": ZERO_UUID} for name in names]
    return Send(METADATA, version, request_of(METADATA, {"topics": wanted, "allow_auto_topic_creation": allowed}))
