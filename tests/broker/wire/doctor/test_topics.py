"""Topics with misspelt names, of which a record may contain any number."""

from __future__ import annotations

from odradek.broker.wire.doctor.examination import examine
from odradek.broker.wire.exchange import Entry, Exchange
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic
from tests.broker.wire.made_exchanges import exchange


def asked(sequence: int, *names: str, error: int = 0) -> Exchange:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    topics = [MetadataResponseTopic(name=name, error_code=error, partitions=[]) for name in names]
    response = MetadataResponse(brokers=[], controller_id=1, topics=topics)
    return exchange(METADATA, 9, request, response, sequence=sequence, client_id="shop")


def problems(*entries: Entry) -> list[str]:
    return [finding.problem for finding in examine(entries) if finding.name == "an unknown topic"]


def test_similar_name_is_a_finding_at_once() -> None:
    (problem,) = problems(asked(1, "orders"), asked(2, "ordres", error=3))
    assert problem.endswith("; there is a topic orders")
    assert problems(asked(1, "orders"), asked(2, "salaries", error=3)) == []


def test_other_name_is_a_finding_the_third_time() -> None:
    (problem,) = problems(*(asked(number, "salaries", error=3) for number in range(3)))
    assert problem.startswith("the topic salaries does not exist: 3 requests")


def test_topic_that_is_known_at_another_time_is_no_finding() -> None:
    assert problems(*(asked(number, "orders", error=3) for number in range(5)), asked(6, "orders")) == []


def test_many_names_are_not_compared() -> None:
    known = [asked(number, *(f"topic-{number}-{each}" for each in range(60))) for number in range(10)]
    assert problems(*known, asked(11, *(f"topik-{each}" for each in range(20)), error=3)) == []
