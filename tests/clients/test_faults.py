"""Reports and actions of real clients whose requests are hit by faults: retries, errors, new connections, duplicates, lost records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import Any

import pytest

from odradek.broker import Cluster
from odradek.broker.controls.fault_handles import FaultHandle
from tests.clients.client import PATIENCE_S, Client, Producer, Record
from tests.clients.exchanged import poll

pytestmark = pytest.mark.clients
every_client = pytest.mark.parametrize("client_name", ["librdkafka", "kafka-python", "java", "aiokafka"])

Act = dict[str, Any]
SHORT_TIMEOUT_MS = 2000
"""The request timeout of producers that never get a response."""


@pytest.fixture
def topic(cluster: Cluster, name: str) -> str:
    cluster.create_topic(name, partitions=1, replication_factor=2)
    return name


@contextmanager
def producer(client: Client, cluster: Cluster, topic: str, *, idempotent: bool = True, **options: int) -> Iterator[Producer]:
    """Yields a producer that is connected, because it has sent a record."""
    with closing(client.producer(cluster.bootstrap_servers, topic, "none", idempotent, **options)) as found:
        send(found, b"first")
        yield found


def send(producer: Producer, *values: bytes) -> None:
    """Sends records and returns when they are acknowledged. Raises the client's exception otherwise."""
    for value in values:
        producer.send([Record(0, None, value)])
        producer.flush()


def stored(cluster: Cluster, topic: str) -> list[bytes | None]:
    """Returns the values of the records after the first one."""
    return [record.value for record in cluster.records(topic)][1:]


def connections(recorder: FaultHandle) -> list[int]:
    return [exchange.connection for exchange in recorder.exchanges]


# Errors


@every_client
def test_retriable_error_is_retried(client: Client, cluster: Cluster, topic: str) -> None:
    with producer(client, cluster, topic) as found:
        with cluster.fault(api="Produce", topic=topic, error="NOT_LEADER_OR_FOLLOWER", times=2) as fault:
            send(found, b"a")
            fault.wait(2)
        assert stored(cluster, topic) == [b"a"]
        assert fault.hits == 2


FINAL_ERRORS = {
    "librdkafka": "MSG_SIZE_TOO_LARGE",
    "kafka-python": "MessageSizeTooLargeError",
    "java": "RecordTooLargeException",
    "aiokafka": "MessageSizeTooLargeError",
}


@every_client
def test_final_error_is_reported(client: Client, client_name: str, cluster: Cluster, topic: str) -> None:
    with producer(client, cluster, topic, idempotent=False) as found:
        with cluster.fault(api="Produce", topic=topic, error="MESSAGE_TOO_LARGE", times=1) as fault, pytest.raises(Exception) as raised:
            send(found, b"a")
        assert FINAL_ERRORS[client_name] in f"{type(raised.value).__name__} {raised.value}"
        assert fault.hits == 1
    assert stored(cluster, topic) == []


@every_client
@pytest.mark.parametrize(("idempotent", "copies"), [(True, 1), (False, 2)])
def test_error_after_the_work_repeats_records(client: Client, cluster: Cluster, topic: str, idempotent: bool, copies: int) -> None:
    with producer(client, cluster, topic, idempotent=idempotent) as found:
        act: Act = {"error": "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "stage": "after", "times": 1}
        with cluster.fault(api="Produce", topic=topic, **act) as fault:
            send(found, b"a")
            fault.wait(1)
    assert stored(cluster, topic) == [b"a"] * copies


# Lost responses


LOST: dict[str, Act] = {
    "drop": {"drop": True, "stage": "after"},
    "fin": {"drop": True, "stage": "after", "close": "fin"},
    "rst": {"drop": True, "stage": "after", "close": "rst"},
    "cut": {"drop": True, "close": "rst", "cut_at_bytes": 10},
    "length": {"corrupt": "length"},
    "correlation_id": {"corrupt": "correlation_id"},
}
GIVEN_UP = {
    ("librdkafka", "length", True): "_BAD_MSG",
    ("librdkafka", "length", False): "_BAD_MSG",
    ("kafka-python", "length", True): "InvalidReceiveError",
    ("kafka-python", "length", False): "InvalidReceiveError",
    ("aiokafka", "drop", False): "RequestTimedOutError",
    ("java", "correlation_id", True): "TimeoutException",
    ("java", "correlation_id", False): "TimeoutException",
}
"""The reports of clients that do not send the record again, by client, fault and idempotence.

The Java client forgets the request, and reports it after delivery.timeout.ms. In aiokafka, the time-out of the request is also that of the
record, unless the producer is idempotent.
"""


@every_client
@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize("lost", LOST)
def test_lost_acknowledgement_repeats_records(
    client: Client, client_name: str, cluster: Cluster, topic: str, lost: str, idempotent: bool
) -> None:
    """The record is stored twice without idempotence, and once if the client reports an error instead of sending it again."""
    report = GIVEN_UP.get((client_name, lost, idempotent))
    with producer(client, cluster, topic, idempotent=idempotent, request_timeout_ms=SHORT_TIMEOUT_MS) as found:
        recorder = cluster.fault(api="Produce", topic=topic, delay_ms=0)
        with recorder, cluster.fault(api="Produce", topic=topic, times=1, **LOST[lost]) as fault:
            if report is None:
                send(found, b"a")
            else:
                with pytest.raises(Exception, match=report):
                    send(found, b"a")
            fault.wait(1)
    if report is None:
        first, second = connections(recorder)
        assert first != second, "the client has not connected again"
    assert stored(cluster, topic) == [b"a"] * (1 if idempotent or report else 2)


@every_client
def test_request_lost_before_the_work_is_sent_again(client: Client, cluster: Cluster, topic: str) -> None:
    with (
        producer(client, cluster, topic, idempotent=False) as found,
        cluster.fault(api="Produce", topic=topic, times=1, drop=True, close="rst") as fault,
    ):
        send(found, b"a")
        fault.wait(1)
    assert stored(cluster, topic) == [b"a"]


# Late responses


@every_client
@pytest.mark.parametrize(
    "act",
    [{"delay_ms": 50, "jitter_ms": 10}, {"throttle_ms": 50}, {"hang": True, "hang_ms": 50}, {"bytes_per_s": 1000, "chunk_bytes": 8}],
    ids=["delay", "throttle", "hang", "trickle"],
)
def test_late_responses_keep_order_and_connection(client: Client, cluster: Cluster, topic: str, act: Act) -> None:
    """Each request arrives only after the response to the one before, or when the channel is no longer muted."""
    values = [b"%d" % number for number in range(4)]
    with producer(client, cluster, topic) as found, cluster.fault(api="Produce", topic=topic, **act) as fault:
        send(found, *values)
    assert stored(cluster, topic) == values
    assert len(set(connections(fault))) == 1
    times = [exchange.time_ms for exchange in fault.exchanges]
    assert all(after - before >= 40 for before, after in pairwise(times))


@every_client
def test_trickling_fetches_are_read(client: Client, cluster: Cluster, topic: str) -> None:
    values = [b"%d" % number for number in range(20)]
    cluster.produce(topic, [{"value": value} for value in values])
    with cluster.fault(api="Fetch", topic=topic, bytes_per_s=20_000, chunk_bytes=100) as fault:
        with closing(client.member(cluster.bootstrap_servers, topic, topic)) as member:
            assert [record.value for record in poll(member, len(values))] == values
        assert fault.hits


@every_client
def test_hanging_request_is_served_at_the_end(client: Client, cluster: Cluster, topic: str) -> None:
    with producer(client, cluster, topic, idempotent=False) as found:
        with cluster.fault(api="Produce", topic=topic, hang=True) as fault:
            found.send([Record(0, None, b"a")])
            fault.wait(1, timeout_s=PATIENCE_S)
            assert stored(cluster, topic) == []
        found.flush()
    assert stored(cluster, topic) == [b"a"]


# Damaged batches

CORRUPTIONS = {
    "librdkafka": {"crc": "CRC32C", "bit": "CRC32C"},
    "kafka-python": {"crc": "CorruptRecord", "bit": "CorruptRecord", "truncate": "no complete records"},
    "java": {"crc": "KafkaException", "bit": "KafkaException", "truncate": "KafkaException"},
    "aiokafka": {"crc": "CorruptRecord", "bit": "CorruptRecord", "truncate": "RecordTooLarge"},
}
"""The report of each client. librdkafka fetches an incomplete batch again without a report."""


@every_client
@pytest.mark.parametrize("kind", ["crc", "bit", "truncate"])
def test_damaged_batch_is_reported(client: Client, client_name: str, cluster: Cluster, topic: str, kind: Any) -> None:
    """The record is short, because librdkafka 2.16 aborts the process at the CRC of a longer one (an assertion in rdbuf.c)."""
    cluster.produce(topic, [{"value": b"intact" * 5}])
    report = CORRUPTIONS[client_name].get(kind)
    with cluster.fault(api="Fetch", topic=topic, corrupt=kind, times=1) as fault:
        with closing(client.member(cluster.bootstrap_servers, topic, f"{topic}-damaged")) as member:
            if report is None:
                assert [record.value for record in poll(member, 1)] == [b"intact" * 5]
            else:
                with pytest.raises(Exception) as raised:
                    poll(member, 1)
                assert report in f"{type(raised.value).__name__} {raised.value}"
        fault.wait(1)
    with closing(client.member(cluster.bootstrap_servers, topic, f"{topic}-intact")) as member:
        assert [record.value for record in poll(member, 1)] == [b"intact" * 5]


# Connections


@every_client
@pytest.mark.parametrize("mode", ["closed", "silent", "refused"])
def test_client_connects_once_the_listener_accepts(client: Client, cluster: Cluster, topic: str, mode: Any) -> None:
    """The refusal lasts until it is removed: with a number of times, a client could send the record before the test looks."""
    with producer(client, cluster, topic) as found, cluster.fault(refuse=mode) as refusal:
        with cluster.fault(api="Produce", topic=topic, drop=True, close="rst", times=1) as fault:
            found.send([Record(0, None, b"a")])
            fault.wait(1, timeout_s=PATIENCE_S)
            if mode != "refused":
                refusal.wait(1, timeout_s=PATIENCE_S)
            assert stored(cluster, topic) == []
        refusal.remove()
        found.flush()
        assert stored(cluster, topic) == [b"a"]
        assert (refusal.hits > 0) is (mode != "refused")


@every_client
def test_stale_leader_is_corrected_by_the_wrong_node(client: Client, cluster: Cluster, topic: str) -> None:
    """The metadata name the follower as leader, until a record has been sent to it."""
    leader = leader_of(cluster, topic)
    wrong: Act = {"topics": {"partitions": {"leader_id": 3 - leader}}}
    with (
        cluster.fault(api="Produce", topic=topic, delay_ms=0) as recorder,
        cluster.fault(api="Metadata", topic=topic, respond=wrong) as stale,
        closing(client.producer(cluster.bootstrap_servers, topic, "none", False)) as found,
    ):
        found.send([Record(0, None, b"first")])
        recorder.wait(1, timeout_s=PATIENCE_S)
        stale.remove()
        found.flush()
    nodes = [exchange.node for exchange in recorder.exchanges]
    assert (nodes[0], nodes[-1]) == (3 - leader, leader)
    assert [record.value for record in cluster.records(topic)] == [b"first"]


def leader_of(cluster: Cluster, topic: str) -> int:
    (found,) = [each for each in cluster.topics() if each.name == topic]
    return found.partitions[0].leader
