"""Members of a group that share its partitions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from odradek import Cluster
from odradek.broker.client.cluster_client import ClusterClient
from odradek.broker.client.group_reader import GroupReader
from odradek.broker.client.offsets import READ_COMMITTED
from odradek.broker.commands.options import addresses
from odradek.protocol.client.connection import TopicPartition

PARTITIONS = {TopicPartition("orders", 0), TopicPartition("orders", 1)}


@contextmanager
def member(cluster: Cluster, *, follow: bool) -> Iterator[GroupReader]:
    with (
        ClusterClient(addresses(cluster.bootstrap_servers)) as client,
        GroupReader(client, "billing", ["orders"], follow=follow, isolation_level=READ_COMMITTED) as reader,
    ):
        yield reader


def read(reader: GroupReader) -> list[bytes | None]:
    return [record.value for _, record in reader.poll()]


def test_members_share_partitions_and_take_over(cluster: Cluster) -> None:
    with member(cluster, follow=True) as first:
        while first.positions.keys() != PARTITIONS:
            read(first)
        for index in (0, 1):
            cluster.produce("orders", ["early"], partition=index)
        assert read(first) + read(first) == [b"early", b"early"]
        with member(cluster, follow=True) as second:
            while len(second.positions) != 1 or len(first.positions) != 1:
                assert read(first) + read(second) == []
            assert {*first.positions, *second.positions} == PARTITIONS
            assert cluster.group("billing").committed == dict.fromkeys(PARTITIONS, 1)
            for index in (0, 1):
                cluster.produce("orders", ["late"], partition=index)
            assert (read(first), read(second)) == ([b"late"], [b"late"])
            second.commit()
        while first.positions.keys() != PARTITIONS:
            assert read(first) == []
        first.commit()
        assert read(first) == []
    assert (cluster.group("billing").members, cluster.group("billing").lag) == ([], 0)


def test_bounded_member_waits_for_partitions_of_others(cluster: Cluster) -> None:
    cluster.produce("orders", ["a"], partition=0)
    with member(cluster, follow=False) as only:
        assert only.positions.keys() == PARTITIONS
        assert read(only) == [b"a"]
        assert only.is_complete
        only.commit()
        only.commit()
    assert cluster.group("billing").committed == {("orders", 0): 1, ("orders", 1): 0}
