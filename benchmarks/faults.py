"""Runs odradek in a process of its own: with a fault that hits no request of the benchmark if the argument is "fault", and without the
record of exchanges if it is "no-record".

It prints its address, and ends when standard input is closed.
"""

from __future__ import annotations

import sys

from odradek import Cluster


def main() -> None:
    with Cluster(nodes=1, record_exchanges=0 if sys.argv[1:] == ["no-record"] else 10_000) as cluster:
        if sys.argv[1:] == ["fault"]:
            cluster.fault(api="Produce", topic="another-topic", error="NOT_ENOUGH_REPLICAS")
        print(f"bootstrap.servers={cluster.bootstrap_servers}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
