"""Produce requests of a known shape get the same responses, logs and errors as decoded requests, byte by byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.appending import produce_shortcut
from odradek.broker.appending.append import append_unpacked
from odradek.broker.appending.produce_shortcut import ProduceShortcut, ProduceTarget
from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, write_crc
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.produce import PRODUCE
from odradek.storage.producer_state import MAX_SEQUENCE
from tests.broker.appending.frames import frame
from tests.broker.harness import START_MS, Client, World, a_batch, produce_request

VERSIONS = range(PRODUCE.versions.first, PRODUCE.versions.last + 1)
CRC_START = 21


def keyed(key: bytes | None, value: bytes | None, timestamp: int = START_MS, **options: Any) -> bytes:
    return bytes(build_batch([Record(0, timestamp, key, value, [])], **options))


def shapes_of(client: Client) -> ProduceShortcut:
    shapes = client.connection._shortcut
    assert isinstance(shapes, ProduceShortcut)
    return shapes


@pytest.fixture
def world() -> World:
    return World(nodes=1).with_topic("t", 3)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns a list that says for each request which was not decoded whether it was served by its shape or by its target."""
    ways: list[str] = []
    append_to_target = ProduceTarget.append

    def watched_append(*arguments: Any) -> int:
        base_offset = append_unpacked(*arguments)
        ways.extend(["shape"] * (base_offset >= 0))
        return base_offset

    def watched_target(*arguments: Any) -> Any:
        ways.append("target")
        return append_to_target(*arguments)

    monkeypatch.setattr(produce_shortcut, "append_unpacked", watched_append)
    monkeypatch.setattr(ProduceTarget, "append", watched_target)
    return ways


def way_of(client: Client, world: World, served: list[str], batch: bytes, **options: Any) -> str:
    """Returns how a request with `batch` is served: by its shape, by its target, or decoded."""
    served.clear()
    client.feed(frame(world, options.pop("version", 9), batch, **options))
    assert client.closed is None
    return served[0] if len(served) == 1 else "decoded" if not served else "both"


# The ways of a request


@pytest.mark.parametrize("version", VERSIONS)
def test_third_request_of_a_length_is_served_by_its_shape(version: int, world: World, served: list[str]) -> None:
    client = world.client()
    ways = [way_of(client, world, served, a_batch(value), version=version) for value in (b"a", b"b", b"c", b"longer", b"LONGER", b"d")]
    assert ways == ["decoded", "target", "shape", "target", "shape", "shape"]
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 6


@pytest.mark.parametrize("values", [[b"x"], [b"x", b"y"]], ids=["one record", "two records"])
@pytest.mark.parametrize("acks", [-1, 0, 1])
def test_shape_answers_according_to_acks(acks: int, values: list[bytes], world: World, served: list[str]) -> None:
    client = world.client()
    for number in range(5):
        client.sent.clear()
        client.feed(frame(world, 9, a_batch(*values), correlation_id=number, acks=acks))
        assert (client.sent[4:8] == number.to_bytes(4, "big")) == (acks != 0)
    assert served[-2:] == ["shape", "shape"]
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 5 * len(values)


def test_shape_serves_several_records_of_repeated_lengths(world: World, served: list[str]) -> None:
    client = world.client()
    batches = [
        bytes(build_batch([Record(n, START_MS + n * delta, None if n else b"key", b"value", []) for n in range(3)])) for delta in (0, 1, 31)
    ]
    ways = [way_of(client, world, served, batch) for batch in (*batches, batches[0], batches[1])]
    assert ways == ["decoded", "target", "target", "shape", "shape"]
    partition = world.cluster.topics["t"].partitions[0]
    assert [view[57:] for view in partition.log.batches(0, 15)] == [batch[57:] for batch in (*batches, *batches[:2])]
    assert partition.log.find_timestamp(START_MS + 62) is not None


def test_several_records_of_varied_lengths_have_no_shape(world: World, served: list[str]) -> None:
    client = world.client()
    ways = [way_of(client, world, served, a_batch(bytes(n), bytes(2 * n))) for n in (1, 2, 1, 2)]
    assert ways == ["decoded", "target", "target", "target"]
    assert not shapes_of(client)._shapes


@pytest.mark.parametrize("timestamps", [(0, -1, 0), (0, 64, 0)], ids=["earlier", "much later"])
def test_unusual_deltas_need_the_general_path(timestamps: tuple[int, ...], world: World, served: list[str]) -> None:
    client = world.client()
    usual = bytes(build_batch([Record(n, START_MS, None, b"value", []) for n in range(3)]))
    for _ in range(4):
        way_of(client, world, served, usual)
    assert served == ["shape"]
    unusual = bytes(build_batch([Record(n, START_MS + delta, None, b"value", []) for n, delta in enumerate(timestamps)]))
    assert way_of(client, world, served, unusual) == "target"


def test_idempotent_records_continue_by_shape(world: World, served: list[str]) -> None:
    client = world.client()
    sequences = (0, 3, 6, 9, 12, 12, 15)
    batches = [a_batch(b"a", b"b", b"c", producer_id=7, producer_epoch=0, base_sequence=sequence) for sequence in sequences]
    assert [way_of(client, world, served, batch) for batch in batches] == [
        "decoded",
        "target",
        "target",
        "shape",
        "shape",
        "target",
        "shape",
    ]
    partition = world.cluster.topics["t"].partitions[0]
    assert partition.log.end_offset == 18
    assert [state.next_sequence for _, state in partition.producers] == [18]


def test_sequence_that_wraps_needs_the_general_path(world: World, served: list[str]) -> None:
    client = world.client()
    for sequence in (MAX_SEQUENCE - 12, MAX_SEQUENCE - 9, MAX_SEQUENCE - 6, MAX_SEQUENCE - 3):
        way = way_of(client, world, served, a_batch(b"a", b"b", b"c", producer_id=7, producer_epoch=0, base_sequence=sequence))
    assert way == "shape"
    assert way_of(client, world, served, a_batch(b"a", b"b", b"c", producer_id=7, producer_epoch=0, base_sequence=MAX_SEQUENCE)) == "target"
    (state,) = (state for _, state in world.cluster.topics["t"].partitions[0].producers)
    assert state.next_sequence == 2


def test_shape_serves_keys_of_any_length(world: World, served: list[str]) -> None:
    client = world.client()
    for key, value in ((b"k", bytes(20)), (b"key", bytes(18))):
        way_of(client, world, served, keyed(key, value))
    ways = [way_of(client, world, served, keyed(bytes(n), bytes(21 - n))) for n in (0, 1, 10, 20, 21)]
    assert ways == ["shape"] * 5


@pytest.mark.parametrize(("size", "way"), [(63, "shape"), (64, "shape"), (8191, "shape"), (8192, "target")])
def test_shape_serves_keyed_values_below_8_kib(size: int, way: str, world: World, served: list[str]) -> None:
    client = world.client()
    for key in (b"a", b"b"):
        way_of(client, world, served, keyed(key, bytes(size)))
    assert way_of(client, world, served, keyed(b"c", bytes(size))) == way


@pytest.mark.parametrize(
    "batch",
    [
        a_batch(*[b"a"] * 10),
        bytes(build_batch([Record(0, 1000, None, b"a", []), Record(1, 1064, None, b"b", [])])),
        bytes(build_batch([Record(0, 1000, None, b"a", []), Record(1, 1000, None, b"b", [("name", b"")])])),
        a_batch(b"a", compression=Compression.GZIP),
        bytes(build_batch([Record(0, 1000, None, b"a", [("name", b"value")])])),
        bytes(build_batch([Record(0, 1000, b"a", b"b", [("name", b"")])])),
        bytes(build_batch([Record(0, 1000, None, b"a", [("name", bytes(3))])])),
        keyed(bytes(64), b"a"),
        keyed(b"a", bytes(produce_shortcut.MAX_SHAPE_LENGTH)),
    ],
    ids=["ten records", "long delta", "second with header", "compressed", "header", "empty header", "zeros in header", "long key", "long"],
)
def test_batch_without_shape_is_served_by_its_target(batch: bytes, world: World, served: list[str]) -> None:
    client = world.client()
    assert [way_of(client, world, served, batch) for _ in range(4)] == ["decoded", "target", "target", "target"]
    assert not shapes_of(client)._shapes


@pytest.mark.parametrize(
    "batch",
    [
        keyed(b"k", None),
        keyed(b"k", b"v", timestamp=-1),
        keyed(b"k", b"v", timestamp=START_MS + 3_600_001),
    ],
    ids=["no value", "no timestamp", "in the future"],
)
def test_numbers_out_of_the_ordinary_need_the_general_path(batch: bytes, world: World, served: list[str]) -> None:
    client = world.client()
    for _ in range(3):
        usual = b"v" * (len(batch) - len(keyed(b"k", b"")))
        way_of(client, world, served, keyed(b"k", usual))
    assert way_of(client, world, served, batch) in ("target", "both")
    assert way_of(client, world, served, keyed(b"k", usual)) == "shape"


def test_each_partition_and_topic_has_a_target(world: World, served: list[str]) -> None:
    world.cluster.topics.create("u", 1)
    client = world.client()
    places: list[dict[str, Any]] = [{"partition": 0}, {"partition": 1}, {"topic": "u"}, {"acks": 1}]
    ways = [[way_of(client, world, served, a_batch(b"x"), **place) for place in places] for _ in range(3)]
    assert ways == [["decoded"] * 4, ["target"] * 4, ["shape"] * 4]
    assert [partition.log.end_offset for partition in world.cluster.topics.partitions()] == [6, 3, 0, 3]


def test_requests_are_decoded_while_the_shortcut_is_off(world: World, served: list[str]) -> None:
    client = world.client()
    for _ in range(3):
        way_of(client, world, served, a_batch(b"x"))
    world.cluster.shortcut_allowed = False
    assert way_of(client, world, served, a_batch(b"x")) == "decoded"
    assert way_of(world.client(), world, served, a_batch(b"x")) == "decoded"
    world.cluster.shortcut_allowed = True
    assert way_of(client, world, served, a_batch(b"x")) == "shape"


def test_shortcut_is_not_allowed_with_an_authorizer() -> None:
    name = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    world = World(nodes=1, settings={"authorizer.class.name": name, "super.users": "User:ANONYMOUS"})
    world.cluster.topics.create("t", 1)
    client = world.client()
    client.feed(frame(world, 9, a_batch(b"x")))
    assert client.connection._shortcut is None


def test_internal_topics_get_no_target(world: World) -> None:
    world.cluster.topics.ensure_internal("__consumer_offsets")
    client = world.client()
    client.call(PRODUCE, 9, produce_request("__consumer_offsets", a_batch(b"a")), client_id="__admin_client")
    assert client.connection._shortcut is None


# State that changes between two requests


def test_changed_settings_of_the_topic_apply_at_once(world: World, served: list[str]) -> None:
    client, topic, batch = world.client(), world.cluster.topics["t"], a_batch(b"x" * 100)
    for _ in range(3):
        way_of(client, world, served, batch)
    for configs, code in (
        ({"max.message.bytes": "150"}, ErrorCode.MESSAGE_TOO_LARGE),
        ({"cleanup.policy": "compact"}, ErrorCode.INVALID_RECORD),
        ({"message.timestamp.type": "LogAppendTime"}, ErrorCode.NONE),
    ):
        world.cluster.alter_topic(topic, configs)
        client.sent.clear()
        answer = client.call(PRODUCE, 9, produce_request("t", batch)).responses[0].partition_responses[0]
        assert (answer.error_code, answer.log_append_time_ms) == (code, -1 if code else START_MS)
    world.cluster.alter_topic(topic, {})
    assert [way_of(client, world, served, batch) for _ in range(2)] == ["target", "shape"]


def test_full_memory_refuses_requests_of_a_known_shape() -> None:
    world = World(nodes=1, max_memory_bytes=500)
    world.cluster.topics.create("t", 1)
    client = world.client()
    answers = [client.call(PRODUCE, 9, produce_request("t", a_batch(b"x" * 30))) for _ in range(6)]
    codes = [answer.responses[0].partition_responses[0].error_code for answer in answers]
    assert codes == [ErrorCode.NONE] * 5 + [ErrorCode.KAFKA_STORAGE_ERROR]
    assert world.cluster.log_memory
    assert world.cluster.log_memory.used_bytes == 5 * len(a_batch(b"x" * 30))


def test_idempotent_batches_continue_by_shape(world: World, served: list[str]) -> None:
    client = world.client()

    def send(sequence: int, epoch: int = 0) -> tuple[str, int]:
        batch = a_batch(b"x", producer_id=7, producer_epoch=epoch, base_sequence=sequence)
        client.sent.clear()
        way = way_of(client, world, served, batch)
        partition = world.cluster.topics["t"].partitions[0]
        return way, partition.log.end_offset

    assert [send(n) for n in range(4)] == [("decoded", 1), ("target", 2), ("shape", 3), ("shape", 4)]
    assert send(3) == ("target", 4)  # a duplicate
    assert send(9) == ("target", 4)  # out of order, which is then decoded and refused
    assert send(4) == ("shape", 5)
    assert send(0, epoch=1) == ("target", 6)
    assert send(1, epoch=1) == ("shape", 7)


# Limits


def test_shapes_of_a_connection_are_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(produce_shortcut, "MAX_SHAPES", 3)
    client = world.client()
    sizes = []
    for size in (0, 1, 2, 3, 4, 4, 5):
        client.feed(frame(world, 9, a_batch(bytes(size))))
        sizes.append(sum(1 + len(shape.others) for shape in shapes_of(client)._shapes.values()))
    assert sizes == [0, 1, 2, 3, 1, 1, 2]


def test_targets_of_a_connection_are_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(produce_shortcut, "MAX_TARGETS", 2)
    client = world.client()
    counts = []
    for partition in (0, 1, 2):
        client.feed(frame(world, 9, a_batch(b"x"), partition=partition))
        counts.append(sum(map(len, shapes_of(client)._targets.values())))
    assert counts == [1, 2, 1]


# Comparison with decoded requests


def mutated(data: bytes, position: int, value: int) -> bytes:
    position %= len(data)
    return data[:position] + bytes([value]) + data[position + 1 :]


def with_crc(batch: bytes, position: int, value: int) -> bytes:
    """Returns `batch` with one byte after the CRC replaced, and the CRC computed again."""
    changed = bytearray(mutated(batch, CRC_START + position % (len(batch) - CRC_START), value))
    write_crc(changed)
    return bytes(changed)


USUAL = keyed(None, b"usual value")
USUAL_KEYED = keyed(b"key", b"usual value")
SEVERAL = bytes(build_batch([Record(n, START_MS + n, b"key" if n == 1 else None, b"value", []) for n in range(3)]))
CONFIGS: list[dict[str, str]] = [
    {},
    {"max.message.bytes": "75"},
    {"cleanup.policy": "compact"},
    {"message.timestamp.type": "LogAppendTime"},
    {"message.timestamp.before.max.ms": "1000"},
    {"compression.type": "gzip"},
    {"min.insync.replicas": "1"},
]
STEPS = st.one_of(
    st.tuples(
        st.just("usual"), st.sampled_from([USUAL, USUAL_KEYED, SEVERAL, keyed(b"k", b"a longer value"), keyed(b"long", b"short value")])
    ),
    st.tuples(st.just("value"), st.sampled_from([b"x", b"y" * 200, b"z" * 20_000, b"w" * 200_000])),
    st.tuples(st.just("sequence"), st.integers(0, 3)),
    st.tuples(st.just("mutate"), st.tuples(st.integers(4, 400), st.integers(0, 255))),
    st.tuples(st.just("damage"), st.tuples(st.sampled_from([USUAL, USUAL_KEYED, SEVERAL]), st.integers(0, 99), st.integers(0, 255))),
    st.tuples(st.just("cut"), st.integers(0, 120)),
    st.tuples(st.just("timestamp"), st.sampled_from([-2, -1, 0, START_MS - 2000, START_MS + 3_600_000, START_MS + 3_600_001])),
    st.tuples(st.just("other partition"), st.just(1)),
    st.tuples(st.just("acks"), st.sampled_from([0, 1, 7])),
    st.tuples(st.just("stop"), st.just(2)),
    st.tuples(st.just("start"), st.just(2)),
    st.tuples(st.just("config"), st.sampled_from(CONFIGS)),
    st.tuples(st.just("delete"), st.just(0)),
    st.tuples(st.just("create"), st.just(0)),
)


def step_frame(world: World, version: int, step: str, value: Any, number: int) -> bytes:
    if step in ("usual", "value"):
        return frame(world, version, value if step == "usual" else a_batch(value), correlation_id=number)
    if step == "sequence":
        return frame(world, version, a_batch(b"s", producer_id=5, producer_epoch=0, base_sequence=value), correlation_id=number)
    if step == "damage":
        batch, position, byte = value
        return frame(world, version, with_crc(batch, position, byte), correlation_id=number)
    if step == "timestamp":
        return frame(world, version, keyed(None, b"usual value", timestamp=value), correlation_id=number)
    if step == "other partition":
        return frame(world, version, USUAL, correlation_id=number, partition=value)
    if step == "acks":
        return frame(world, version, USUAL, correlation_id=number, acks=value)
    data = frame(world, version, USUAL, correlation_id=number)
    if step == "mutate":
        position, byte = value
        return mutated(data, position, byte)
    if step == "cut":
        kept: int = max(len(data) - value, 4)
        return (kept - 4).to_bytes(4, "big") + data[4:kept]
    return data


def change(world: World, step: str, value: Any) -> None:
    topic = world.cluster.topics.get("t")
    if step in ("stop", "start"):
        (world.cluster.nodes.stop if step == "stop" else world.cluster.nodes.start)(value)
    elif step == "delete" and topic:
        world.cluster.delete_topic(topic)
    elif step == "create" and not topic:
        world.cluster.topics.create("t", 2, assignments=[[1, 2], [1, 2]])
    elif step == "config" and topic:
        world.cluster.alter_topic(topic, value)


def run(steps: list[tuple[str, Any]], version: int, *, short: bool) -> list[bytes]:
    world = World(settings={"min.insync.replicas": "2"})
    world.cluster.topics.create("t", 2, assignments=[[1, 2], [1, 2]])
    world.cluster.shortcut_allowed = short
    client, seen = world.client(), []
    for number, (step, value) in enumerate([("usual", batch) for batch in [USUAL] * 2 + [USUAL_KEYED] * 2 + [SEVERAL] * 3] + steps):
        change(world, step, value)
        data = step_frame(world, version, step, value, number)
        if client.closed:
            client = world.client()
        client.feed(data)
        seen.append(bytes(client.sent) + str(client.closed).encode())
        client.sent.clear()
    for partition in world.cluster.topics.partitions():
        seen += [bytes(view) for view in partition.log.batches(0, partition.log.end_offset)]
        seen += [repr([(key, state.next_sequence) for key, state in partition.producers]).encode()]
    return seen


@given(steps=st.lists(STEPS, min_size=2, max_size=8), version=st.sampled_from(VERSIONS))
def test_shapes_and_decoded_requests_agree(steps: list[tuple[str, Any]], version: int) -> None:
    assert run(steps, version, short=True) == run(steps, version, short=False)


@pytest.mark.parametrize("usual", [USUAL, USUAL_KEYED, SEVERAL], ids=["no key", "key", "several"])
def test_shapes_and_decoded_agree_on_each_damaged_byte(usual: bytes) -> None:
    """Each byte after the CRC is replaced, one per request; the CRC is right, so only its structure can be refused."""
    steps: list[tuple[str, Any]] = [
        ("damage", (usual, position, value)) for position in range(len(usual) - CRC_START) for value in (0, 1, 2, 3, 0x7F, 0x80, 0xFF)
    ]
    assert run(steps, 9, short=True) == run(steps, 9, short=False)
