"""The decisions of `OldObjects`, on objects that become old. tests/broker/test_cli.py shows that `odradek serve` begins to serve so."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator

import pytest

from odradek.broker.process import garbage
from odradek.broker.process.garbage import MAX_COLLECTIONS, REST_S, OldObjects, begin_serving, no_collection


class Node:
    """An object that refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(garbage, "MAX_OBJECTS_AT_REST", sys.maxsize)  # a run of tests has more objects than a cluster
    frozen_before = gc.get_freeze_count()
    with no_collection():
        begin_serving()
        yield
    if not frozen_before:
        gc.unfreeze()


def old_node(collections: int = 1) -> weakref.ref[Node]:
    """Returns a reference to garbage that has survived this many collections of the middle generation."""
    node = Node()
    for _ in range(collections):
        gc.collect(1)
    return weakref.ref(node)


def test_start_collects_nothing() -> None:
    thresholds = gc.get_threshold()
    with no_collection():
        assert not gc.isenabled()
        begin_serving()
        assert gc.isenabled() and gc.get_freeze_count() > 0 and gc.get_threshold() != thresholds
    assert gc.isenabled() and gc.get_threshold() == thresholds


@pytest.mark.usefixtures("serving")
def test_old_objects_start_no_collection() -> None:
    reference = old_node()
    keep: list[list[object]] = [[[]] for _ in range(5 * garbage.YOUNG_OBJECTS)]  # which starts collections of the other generations
    assert gc.get_count()[2] > 0 and len(keep) and reference() is not None


@pytest.mark.usefixtures("serving")
def test_garbage_is_collected_while_the_loop_rests() -> None:
    rest_s = [0.0]
    old_objects, reference = OldObjects(lambda: rest_s[0]), old_node()
    old_objects.look()
    assert reference() is not None
    rest_s[0] = REST_S
    old_objects.look()
    assert reference() is None and gc.get_count()[2] == 0


@pytest.mark.usefixtures("serving")
def test_frozen_garbage_is_collected_while_the_loop_rests() -> None:
    node = Node()
    reference = weakref.ref(node)
    gc.freeze()
    del node
    gc.collect()
    assert reference() is not None
    old_node()
    OldObjects(lambda: REST_S).look()
    assert reference() is None


@pytest.mark.usefixtures("serving")
def test_rest_does_not_suffice_to_visit_many_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "MAX_OBJECTS_AT_REST", 0)
    node = Node()
    frozen = weakref.ref(node)
    gc.freeze()
    del node
    young = old_node()
    OldObjects(lambda: REST_S).look()
    assert young() is None and frozen() is not None
    assert gc.get_count()[2] == 0 and not gc.get_objects(generation=2)


@pytest.mark.usefixtures("serving")
def test_much_new_garbage_is_collected_under_load() -> None:
    old_objects = OldObjects(lambda: 0.0)
    few = old_node(MAX_COLLECTIONS - 1)
    old_objects.look()
    assert few() is not None
    many = old_node()
    old_objects.look()
    assert few() is None and many() is None
    assert gc.get_count()[2] == 0 and not gc.get_objects(generation=2)


@pytest.mark.usefixtures("serving")
def test_frozen_garbage_is_collected_once_it_has_doubled() -> None:
    old_objects = OldObjects(lambda: 0.0)
    node = Node()
    reference = weakref.ref(node)
    gc.freeze()
    del node
    old_node(MAX_COLLECTIONS)
    old_objects.look()
    assert reference() is not None
    keep: list[list[object]] = [[] for _ in range(gc.get_freeze_count() + 1000)]
    old_node(MAX_COLLECTIONS)
    old_objects.look()
    assert len(keep) and reference() is None


@pytest.mark.usefixtures("serving")
def test_look_without_old_objects_collects_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    old_objects = OldObjects(lambda: REST_S)
    gc.collect()
    monkeypatch.setattr(gc, "collect", lambda: pytest.fail("collected"))
    old_objects.look()
