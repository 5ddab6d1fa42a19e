"""The file of a saved state: it reproduces the state, and a file that is damaged in any way is refused as a whole."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from random import SystemRandom
from struct import pack
from typing import Any

import pytest

from odradek.broker.snapshots.cluster import State, write_cluster
from odradek.broker.snapshots.state_file import CHECKSUM_BYTES, VERSION, InvalidStateFile, load, save
from odradek.storage.log import KEEP_BYTES
from tests.broker.harness import World, produce
from tests.fuzz.batches import Batches
from tests.fuzz.player import Player, captured_errors
from tests.fuzz.rounds import NODES, Round
from tests.state import changes, everything

SEED = SystemRandom().getrandbits(32)
HEAD_BYTES = 28


def small_world() -> World:
    world = World(1)
    world.cluster.topics.create("t", 2)
    for size in (10, 5000, KEEP_BYTES, 10):
        produce(world, "t", b"v" * size)
    world.cluster.topics["t"].partitions[0].delete_before(1)
    return world


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save(write_cluster(small_world().cluster), tmp_path / "state")
    return tmp_path / "state"


@pytest.mark.parametrize("number", range(len(NODES)))
def test_load_after_random_steps_reproduces_everything(number: int, tmp_path: Path) -> None:
    played = Round(SEED, number, Batches(SEED))
    with captured_errors() as errors:
        player = Player(played.setting, errors, timed=False)
        for _ in range(200):
            played.play(player, played.next_step(player))
    world = player.world
    expected = everything(world.cluster)
    save(write_cluster(world.cluster), tmp_path / "state")
    world.restore(load(tmp_path / "state"))
    assert list(changes(expected, everything(world.cluster))) == []


def test_loaded_log_can_be_read_and_appended_to(saved: Path) -> None:
    world = small_world()
    world.restore(load(saved))
    log = world.cluster.topics["t"].partitions[0].log
    assert (log.start_offset, log.end_offset) == (1, 4)
    assert produce(world, "t", b"new") == 4
    sizes = [len(batch) for batch in log.batches(1, 5)]
    assert log.size == sum(sizes)
    assert [log.available(1, offset) for offset in range(2, 6)] == [sum(sizes[:count]) for count in range(1, 5)]


def test_save_replaces_an_existing_file_and_returns_its_size(saved: Path) -> None:
    before = saved.read_bytes()
    assert save(write_cluster(World(1).cluster), saved) == saved.stat().st_size
    assert saved.read_bytes() != before
    assert list(saved.parent.iterdir()) == [saved]


def test_save_that_fails_leaves_the_existing_file(saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(TypeError, match="is not a plain value"):
        save({"now_ms": object()}, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_load_truncated_file_is_refused_at_every_length(saved: Path) -> None:
    data = saved.read_bytes()
    for size in [*range(HEAD_BYTES + 2), *range(HEAD_BYTES + 2, len(data), 997), len(data) - 1]:
        saved.write_bytes(data[:size])
        with pytest.raises(InvalidStateFile, match=r"not a saved state|it was truncated or changed"):
            load(saved)
    saved.write_bytes(data + b"\0")
    with pytest.raises(InvalidStateFile, match="it was truncated or changed"):
        load(saved)


def test_load_file_with_a_changed_byte_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    for position in [*range(HEAD_BYTES + 4), *range(HEAD_BYTES + 4, len(data), 211), *range(len(data) - CHECKSUM_BYTES, len(data))]:
        changed = bytearray(data)
        changed[position] ^= 0x10
        saved.write_bytes(changed)
        with pytest.raises(InvalidStateFile, match=f"cannot load {saved}: "):
            load(saved)


def test_load_newer_version_is_refused_with_both_versions(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    data[8:12] = pack(">I", VERSION + 1)
    saved.write_bytes(data)
    expected = f"it has version {VERSION + 1} of the format, and this version of odradek reads version {VERSION}"
    with pytest.raises(InvalidStateFile, match=expected):
        load(saved)


def test_load_missing_file_raises_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


def hostile(path: Path, header: bytes, data: bytes = b"") -> None:
    """Writes a file that is invalid although its checksum is right."""
    content = b"ODRADEK\n" + pack(">IQQ", VERSION, len(header), len(data)) + header + data
    path.write_bytes(content + hashlib.sha256(content).digest())


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"{", "JSONDecodeError"),
        (b"\xff", "UnicodeDecodeError"),
        (b"[" * 100_000, "RecursionError"),
        (b"null", "TypeError"),
        (b"{}", "KeyError"),
        (b'{"bytes":"?"}', "Error"),
        (b'{"segment":[0,1,0,1,0]}', "there are no 1 bytes at 0"),
        (b'{"segment":[-1,1,0,1,0]}', "there are no 1 bytes at -1"),
    ],
)
def test_load_hostile_header_is_refused(header: bytes, message: str, tmp_path: Path) -> None:
    hostile(tmp_path / "state", header)
    with pytest.raises(InvalidStateFile, match=f"its header is invalid: .*{message}"):
        load(tmp_path / "state")


def parts(path: Path) -> tuple[Any, bytes]:
    content = path.read_bytes()
    size = int.from_bytes(content[12:20], "big")
    return json.loads(content[HEAD_BYTES : HEAD_BYTES + size]), content[HEAD_BYTES + size : -CHECKSUM_BYTES]


@pytest.mark.parametrize("position", [8, 23])
def test_load_hostile_batches_are_refused(saved: Path, position: int) -> None:
    state, data = parts(saved)
    changed = data[:position] + b"\xff\xff\xff\xf0" + data[position + 4 :]
    hostile(saved, json.dumps(state).encode(), changed)
    with pytest.raises(InvalidStateFile, match="can follow the offset"):
        load(saved)


def every_part(state: Any) -> list[tuple[Any, Any]]:
    """Returns (container, key) for each value of a state."""
    items = list(state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ())
    return [(state, key) for key, _ in items] + [each for _, value in items for each in every_part(value)]


def test_load_state_without_one_attribute_is_refused(saved: Path) -> None:
    state, data = parts(saved)
    state["random"] = None
    for container, key in every_part(state):
        if isinstance(container, dict) and container.keys() - {"bytes", "segment"}:
            removed = container.pop(key)
            hostile(saved, json.dumps(state).encode(), data)
            with pytest.raises(InvalidStateFile):
                load(saved)
            container[key] = removed


def test_written_state_is_not_changed_by_saving(tmp_path: Path) -> None:
    world = small_world()
    state: State = write_cluster(world.cluster)
    save(state, tmp_path / "state")
    assert state == write_cluster(world.cluster)


def test_load_state_of_an_unknown_release_is_refused(saved: Path) -> None:
    state, data = parts(saved)
    state["as_version"] = "9.9"
    hostile(saved, json.dumps(state).encode(), data)
    with pytest.raises(InvalidStateFile, match=r"no version '9\.9' of Kafka"):
        load(saved)
