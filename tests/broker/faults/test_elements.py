"""Topics, partitions, groups and transactional ids in the messages of all APIs."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.faults.elements import WHOLE, Element, Elements, subjects
from odradek.protocol.messages import APIS
from odradek.protocol.messages.add_partitions_to_txn import ADD_PARTITIONS_TO_TXN
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.delete_groups import DELETE_GROUPS
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS
from odradek.protocol.messages.describe_transactions import DESCRIBE_TRANSACTIONS
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR
from odradek.protocol.messages.heartbeat import HEARTBEAT
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.txn_offset_commit import TXN_OFFSET_COMMIT
from odradek.protocol.schema import Api
from tests.broker.api.examples import example
from tests.broker.harness import World


@pytest.fixture
def elements(world: World) -> Elements:
    return Elements(world.cluster)


def of(elements: Elements, request: Any) -> list[Element]:
    return elements.of(request, elements._cluster.brokers[1])


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_elements_name_only_the_subjects_of_their_message(api: Api, elements: Elements) -> None:
    """A message with one item in each list names exactly what its declaration says that it can name."""
    request = example(api.request, api.versions.last)
    named: set[str] = set()
    for element in of(elements, request):
        named |= {name for name, value in element._asdict().items() if value is not None}
    named = {"partitions" if name == "partition" else name for name in named}
    assert named <= subjects(api.request)
    assert named or not subjects(api.request) - {"topic", "group", "transactional_id"}


@pytest.mark.parametrize(
    ("api", "version", "element"),
    [
        (PRODUCE, 9, Element("x", 7, transactional_id="x")),
        (FETCH, 11, Element("x", 7)),
        (METADATA, 9, Element("x")),
        (HEARTBEAT, 4, Element(group="x")),
        (DELETE_GROUPS, 2, Element(group="x")),
        (DESCRIBE_TRANSACTIONS, 0, Element(transactional_id="x")),
        (TXN_OFFSET_COMMIT, 3, Element("x", 7, "x", "x")),
        (ADD_PARTITIONS_TO_TXN, 3, Element("x", 7, transactional_id="x")),
        (ADD_PARTITIONS_TO_TXN, 5, Element("x", 7, transactional_id="x")),
        (CREATE_TOPICS, 7, Element("x")),
    ],
    ids=lambda value: value.name if isinstance(value, Api) else None,
)
def test_element_of_a_request_has_all_its_names(api: Api, version: int, element: Element, elements: Elements) -> None:
    assert of(elements, example(api.request, version)) == [element]


@pytest.mark.parametrize(("key_type", "element"), [(0, Element(group="k")), (1, Element(transactional_id="k")), (2, WHOLE)])
def test_key_of_a_coordinator_depends_on_its_type(key_type: int, element: Element, elements: Elements) -> None:
    for keys in ({"key": "k"}, {"coordinator_keys": ["k"]}):
        assert of(elements, FIND_COORDINATOR.request(**keys, key_type=key_type)) == [element]


@pytest.mark.parametrize(("resource_type", "element"), [(2, Element("r")), (32, Element(group="r")), (3, Element(group="r")), (4, WHOLE)])
def test_resource_depends_on_its_type(resource_type: int, element: Element, elements: Elements) -> None:
    request: Any = example(DESCRIBE_CONFIGS.request, 4)
    request.resources[0].resource_type, request.resources[0].resource_name = resource_type, "r"
    assert of(elements, request) == [element]


def test_topic_id_is_resolved_to_its_name(world: World, elements: Elements) -> None:
    wanted = FetchPartition(partition=1, fetch_offset=0, partition_max_bytes=1)
    topics = [FetchTopic(topic_id=topic_id, partitions=[wanted]) for topic_id in (world.cluster.topics["a"].id, b"?" * 16)]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics)
    assert of(elements, request) == [Element("a", 1), Element(None, 1)]


def test_request_for_all_topics_names_each(elements: Elements) -> None:
    assert of(elements, MetadataRequest(topics=None)) == [Element("a"), Element("b")]
    groups = [
        OffsetFetchRequestGroup(group_id="g", topics=None),
        OffsetFetchRequestGroup(group_id="h", topics=[OffsetFetchRequestTopics(name="c", partition_indexes=[3])]),
    ]
    found = of(elements, OffsetFetchRequest(groups=groups))
    assert found == [Element(group="g"), Element("c", 3, "h"), Element("a", None, "g"), Element("b", None, "g")]


def test_select_keeps_the_accepted_elements(elements: Elements) -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in "abc"])
    selected = elements.select(request, lambda element: element.topic != "b")
    assert selected == MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in "ac"])
    assert len(request.topics or []) == 3
    assert elements.select(request, lambda element: False) is None


def test_select_of_a_message_without_lists_is_all_or_none(elements: Elements) -> None:
    request = example(HEARTBEAT.request, 4)
    assert elements.select(request, lambda element: element.group == "x") is request
    assert elements.select(request, lambda element: element.group == "y") is None


def test_elements_of_an_offset_fetch_have_their_group(elements: Elements) -> None:
    request: Any = example(OFFSET_FETCH.request, 5)
    assert of(elements, request) == [Element("x", 7, "x")]
