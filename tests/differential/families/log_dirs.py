"""Several log directories per node: where replicas are, and how they move from one directory to the other (KIP-113)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from odradek.protocol.messages.alter_replica_log_dirs import ALTER_REPLICA_LOG_DIRS
from odradek.protocol.messages.create_partitions import CREATE_PARTITIONS
from odradek.protocol.messages.describe_log_dirs import DESCRIBE_LOG_DIRS

from ..case import Case, Pause, Send, Step, Topic, all_versions
from ..requests import batch_of, produce, read, request_of
from .configs import BROKER, DELETE, SET, altered, describe

SETTINGS = {"log.dirs": "{directory}/data,{directory}/more", "replica.fetch.max.bytes": "100", "log.dir.failure.timeout.ms": "1000"}
DATA, MORE = "$directory/data", "$directory/more"
RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
QUIET = Pause(12_000)
"""Time after which Kafka's quota has forgotten earlier moves."""
MOVED = Pause(3000)
"""Time in which a small replica has moved, also on Apache Kafka."""


def cases() -> Iterator[Case]:
    for make in (_described, _moved, _refused, _future, _throttled, _cordoned):
        yield from make()


def described(*names: str, version: int = 5, partitions: Sequence[int] = (0, 1)) -> Send:
    topics = [{"topic": name, "partitions": list(partitions)} for name in names]
    return Send(DESCRIBE_LOG_DIRS, version, request_of(DESCRIBE_LOG_DIRS, {"topics": topics}))


def move(*dirs: tuple[str, str, Sequence[int]], version: int = 2) -> Send:
    """Returns a request to move replicas; each element is a directory, a topic, and its partitions."""
    fields = [{"path": path, "topics": [{"name": name, "partitions": list(partitions)}]} for path, name, partitions in dirs]
    return Send(ALTER_REPLICA_LOG_DIRS, version, request_of(ALTER_REPLICA_LOG_DIRS, {"dirs": fields}))


def placed(topic: Topic, *records: bytes) -> tuple[Step, ...]:
    """Returns the steps that put a replica into the directory DATA, with a batch for each record."""
    return (*(produce(topic.name, batch_of(record)) for record in records), move((DATA, topic.name, [0])), MOVED)


def _described() -> Iterator[Case]:
    topic = Topic("log_dirs.described")
    for version in all_versions(DESCRIBE_LOG_DIRS):
        steps = (described(topic.name, version=version), described(topic.name, "nobody", version=version, partitions=(0, 1, 7)))
        yield Case(f"log_dirs.described.v{version}", (topic,), (*steps, described(version=version)), before=placed(topic, b"x"))


def _moved() -> Iterator[Case]:
    for version in all_versions(ALTER_REPLICA_LOG_DIRS):
        topic = Topic(f"log_dirs.moved.v{version}")
        back = move((DATA, topic.name, [0]), version=version)
        steps = (move((MORE, topic.name, [0]), version=version), MOVED, described(topic.name))
        yield Case(topic.name, (topic,), (*steps, back, MOVED, described(topic.name)), before=placed(topic, b"x", b"y"))
    for word, *dirs in (
        ("same", DATA),
        ("other-and-back", MORE, DATA),
        ("twice", MORE, MORE),
        ("slash", MORE + "/"),
        ("dots", MORE + "/../more"),
    ):
        topic = Topic(f"log_dirs.moved.{word}")
        steps = (move(*((directory, topic.name, [0]) for directory in dirs)), MOVED, described(topic.name))
        yield Case(topic.name, (topic,), steps, before=placed(topic, b"x"))
    topic = Topic("log_dirs.moved.read")
    written = (produce(topic.name, batch_of(b"y")), read(topic.name), produce(topic.name, batch_of(b"z")), described(topic.name))
    yield Case(topic.name, (topic,), (move((MORE, topic.name, [0])), MOVED, *written, read(topic.name)), before=placed(topic, b"x"))


def _refused() -> Iterator[Case]:
    topic = Topic("log_dirs.refused")
    for word, directory in (("elsewhere", "/nowhere"), ("relative", "more"), ("empty", ""), ("above", "$directory")):
        yield Case(f"log_dirs.refused.{word}", (topic,), (move((directory, topic.name, [0])), described(topic.name)), before=placed(topic))
    for word, name, partitions in (
        ("topic", "nobody", [0]),
        ("partition", topic.name, [7]),
        ("other-node", topic.name, [1]),
        ("no-name", "", [0]),
    ):
        for directory in (MORE, "/nowhere"):
            step = move((directory, name, partitions))
            yield Case(f"log_dirs.refused.{word}{'.elsewhere' * (directory != MORE)}", (topic,), (step, described(topic.name)))
    mixed = move((MORE, topic.name, [0, 7]), ("/nowhere", "nobody", [0]), (MORE, "nobody", [1]))
    yield Case("log_dirs.refused.mixed", (topic,), (mixed, MOVED, described(topic.name), move()), before=placed(topic))


def _future() -> Iterator[Case]:
    """A directory that is chosen before the replica exists."""
    for directory in ("data", "more"):
        topic = Topic(f"log_dirs.chosen.{directory}", replicas=((1,),))
        fields = {"topics": [{"name": topic.name, "count": 2, "assignments": [{"broker_ids": [1]}]}], "timeout_ms": 10_000}
        grown = Send(CREATE_PARTITIONS, 3, request_of(CREATE_PARTITIONS, {**fields, "validate_only": False}), settles=True)
        yield Case(topic.name, (topic,), (move((f"$directory/{directory}", topic.name, [1])), grown, described(topic.name, partitions=[1])))


def _throttled() -> Iterator[Case]:
    """While the rate is one byte a second, only the first batch has been copied."""
    slow = altered(BROKER, "", [(RATE, "1", SET)], validate_only=False, version=1)
    fast = altered(BROKER, "", [(RATE, None, DELETE)], validate_only=False, version=1)
    for word in ("stays", "same-again", "cancelled", "grows"):
        topic = Topic(f"log_dirs.throttled.{word}")
        steps: tuple[Step, ...] = {
            "stays": (),
            "same-again": (move((MORE, topic.name, [0])),),
            "cancelled": (move((DATA, topic.name, [0])), MOVED),
            "grows": (produce(topic.name, batch_of(b"new")),),
        }[word]
        begun = (*placed(topic, b"x" * 80, b"y" * 80, b"z" * 80), QUIET, slow)
        begin = (move((MORE, topic.name, [0])), Pause(1000), described(topic.name))
        yield Case(topic.name, (topic,), (*begin, *steps, described(topic.name), describe(BROKER, "1", [RATE]), fast), before=begun)


def _cordoned() -> Iterator[Case]:
    """Cordoned directories get no new replicas (KIP-1066)."""
    topic = Topic("log_dirs.cordoned")
    for word, value in (
        ("one", MORE),
        ("both", f"{DATA},{MORE}"),
        ("all", "*"),
        ("unknown", "/nowhere"),
        ("relative", "more"),
        ("empty", ""),
    ):
        set_to = altered(BROKER, "1", [("cordoned.log.dirs", value, SET)], validate_only=False, version=1)
        freed = altered(BROKER, "1", [("cordoned.log.dirs", None, DELETE)], validate_only=False, version=1)
        shown = describe(BROKER, "1", ["cordoned.log.dirs"])
        steps = (set_to, shown, described(topic.name), move((MORE, topic.name, [0])), MOVED, described(topic.name), freed)
        yield Case(f"log_dirs.cordoned.{word}", (topic,), (*steps, move((DATA, topic.name, [0])), MOVED), before=placed(topic))
