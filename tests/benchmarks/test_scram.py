"""The client of SCRAM whose connections the benchmark counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.scram import Refused, connect
from odradek import Cluster


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with Cluster(nodes=1, users={"alice": "secret"}, settings={"connection.failed.authentication.delay.ms": 0}) as cluster:
        host, port = cluster.bootstrap_servers.split(":")
        yield host, int(port)


def test_connect_with_the_password_is_accepted(address: tuple[str, int]) -> None:
    connect(address, "alice", "secret")


@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("bob", "secret")])
def test_connect_of_another_user_is_refused(address: tuple[str, int], user: str, password: str) -> None:
    with pytest.raises(Refused, match="error code 58"):
        connect(address, user, password)
