"""Runs librdkafka's mock cluster in a process of its own: prints its address, and ends when standard input is closed."""

from __future__ import annotations

import sys

from confluent_kafka import Producer


def main() -> None:
    producer = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1, "log_level": 0})
    (broker,) = producer.list_topics(timeout=10).brokers.values()
    print(f"bootstrap.servers={broker.host}:{broker.port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
