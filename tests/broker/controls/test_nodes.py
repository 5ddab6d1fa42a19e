"""Controls of nodes."""

from __future__ import annotations

import pytest

from odradek import Cluster

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize("name", ["stop_node", "start_node"])
def test_node_control_with_an_unknown_id_raises(name: str) -> None:
    with Cluster(nodes=2) as cluster, pytest.raises(ValueError, match="node: there is no node 7; use one of 1, 2"):
        getattr(cluster, name)(7)
