from __future__ import annotations

import pytest

from odradek.broker.control_errors import InvalidControl
from odradek.broker.wire.exchange import Moment
from odradek.broker.wire.filters import MAX_CHARACTERS, parse_filter
from tests.broker.wire.made_entries import AN_EVENT, a_heartbeat, a_produce


@pytest.mark.parametrize(
    "text",
    [
        "",
        "api=Produce",
        "api=Prod*",
        "error",
        "api=Produce and error",
        "error=NOT_*",
        "topic=orders and not group",
        "node=1 and connection=1",
        "version>=9 and version<10",
        "not (api=Fetch or api=Heartbeat)",
        "request_bytes > 50",
        "api!=Fetch",
        "client_id='app'",
        'client_id = "app"',
        "principal=User:ANONYMOUS",
        "waited='records of *'",
        "ended or fault",
        "duration_ms=250",
        "software='librdkafka 2.*'",
        "correlation_id=7 and answered",
        "peer=127.0.0.1:*",
    ],
)
def test_filter_selects_an_exchange(text: str) -> None:
    found = a_produce(
        6,
        waits=("records of orders-0",),
        faults=("fault 1",),
        software="librdkafka 2.16.0",
        received=Moment(0, 1000),
        answered=Moment(0, 1250),
    )
    assert parse_filter(text)(found)


@pytest.mark.parametrize(
    "text",
    [
        "api=Fetch",
        "error",
        "topic=payments",
        "topic!=orders",
        "version>9",
        "api=Produce and error",
        "ended",
        "event",
        "node=2",
        "node!=1",
        "not api",
        "waited or fault",
        "request_bytes<=10",
    ],
)
def test_filter_leaves_out_an_exchange(text: str) -> None:
    assert not parse_filter(text)(a_produce())


def test_or_binds_less_than_and() -> None:
    selects = parse_filter("api=Heartbeat or api=Produce and error")
    assert [selects(each) for each in (a_heartbeat(), a_produce(), a_produce(6))] == [True, False, True]


def test_filter_selects_events_by_kind_and_fields() -> None:
    for text in ("event", "event=leader", "topic=orders", "node=2", "text='node 2*'", "not api=Produce", "sequence>4"):
        assert parse_filter(text)(AN_EVENT), text
    for text in ("api", "api!=Produce", "error", "event=clock", "group", "duration_ms<5"):
        assert not parse_filter(text)(AN_EVENT), text


@pytest.mark.parametrize(
    ("text", "marked", "reason"),
    [
        ("api=Produce and eror", "eror", "there is no field 'eror'; did you mean 'error'?"),
        ("api=Prodcue", "Prodcue", "there is no value 'Prodcue'; did you mean 'Produce'?"),
        ("error=NOT_LEADER", "NOT_LEADER", "did you mean 'NOT_LEADER_OR_FOLLOWER'?"),
        ("event=leaders", "leaders", "did you mean 'leader'?"),
        ("api=Produce nad error", "nad", "expected 'and', 'or' or the end"),
        ("version>nine", "nine", "expected a number"),
        ("api>Produce", ">", "api is a text, which can be compared by = and != only"),
        ("api=", "=", "a value is missing after this; write a text with spaces in quotes"),
        ("(api=Fetch", "(", "this parenthesis is not closed"),
        ("api=Fetch)", ")", "expected 'and', 'or' or the end"),
        ("and api=Fetch", "and", "expected a field, such as api"),
        ("client_id='app", "'", "a quote is not closed"),
        ("api=Fetch or", "", "a comparison is missing at the end"),
        ("not", "", "a comparison is missing at the end"),
        ("!", "!", "unexpected character"),
    ],
)
def test_typo_is_marked_with_the_nearest_name(text: str, marked: str, reason: str) -> None:
    with pytest.raises(InvalidControl) as raised:
        parse_filter(text)
    first, shown, marks = str(raised.value).split("\n")
    assert reason in first
    assert shown == f"  {text}"
    start, end = marks.index("^") - 2, len(marks) - 2
    assert text[start:end] == marked


def test_filter_without_bounds_is_refused() -> None:
    for text in ("(" * 100 + "api" + ")" * 100, "not " * 100 + "api", "a" * (MAX_CHARACTERS + 1)):
        with pytest.raises(InvalidControl, match=r"more than 50 levels|longer than"):
            parse_filter(text)
