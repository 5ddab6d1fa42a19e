"""A cluster with users, ACLs, a fault and a snapshot, in which real clients produce, consume and have a transaction open."""

from __future__ import annotations

import json
import threading
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, Producer

from odradek import Cluster

USERS = {"shop": "shop-secret", "billing": "billing-secret"}
ACLS = (
    "User:shop:allow:all:topic:*",
    "User:shop:allow:all:transactional_id:*",
    "User:shop:allow:idempotent_write:cluster",
    "User:billing:allow:read,describe:topic:order*",
    "User:billing:allow:read,describe:group:billing",
    "User:billing:deny:write:topic:payments",
)


class Scene:
    """The cluster and its clients. `close` and the end of a `with` stop both."""

    def __init__(self) -> None:
        self.cluster = Cluster(
            nodes=3, topics={"orders": 4, "payments": {"partitions": 2, "configs": {"cleanup.policy": "compact"}}},
            users=USERS, acls=ACLS, seed=1, control="127.0.0.1:0",
        )  # fmt: skip
        self._ending = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self.cluster.__enter__()
        self.producer = Producer(self._settings("shop", "shop-1"))
        for number in range(60):
            order: dict[str, Any] = {"order": number, "customer": f"customer-{number % 7}", "total": number * 1.5}
            self.producer.produce("orders", json.dumps(order), key=order["customer"], headers={"trace": f"{number:08x}"})
        self.producer.produce("orders", b"\x00\x01\xfe\xff", key=b"binary")
        assert self.producer.flush(30) == 0
        self.transactional = Producer(
            self._settings("shop", "shop-payments") | {"transactional.id": "payments-1", "transaction.timeout.ms": 900_000}
        )
        self.transactional.init_transactions(30)
        self.transactional.begin_transaction()
        self.transactional.produce("payments", b'{"amount": 12}', key=b"p-1")
        assert self.transactional.flush(30) == 0
        for number in range(2):
            self._threads.append(threading.Thread(target=self._consume, args=(f"billing-{number}",)))
            self._threads[-1].start()
        self.cluster.wait_for_group("billing", members=2, state="Stable", lag=0, timeout_s=60)
        self.cluster.fault(api="Produce", topic="payments", delay_ms=1)
        self.cluster.fault(api="Metadata", skip=1_000, delay_ms=1)
        self.producer.list_topics("orders", timeout=30)
        self.transactional.produce("payments", b'{"amount": 13}', key=b"p-2")
        assert self.transactional.flush(30) == 0
        self.cluster.snapshot()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join()
        self.cluster.__exit__(kind, error, traceback)

    def _settings(self, user: str, client_id: str) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.cluster.bootstrap_servers,
            "client.id": client_id,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": user,
            "sasl.password": USERS[user],
        }

    def _consume(self, client_id: str) -> None:
        settings = {"group.id": "billing", "auto.offset.reset": "earliest", "auto.commit.interval.ms": 100}
        consumer = Consumer(self._settings("billing", client_id) | settings)
        consumer.subscribe(["orders"])
        while not self._ending.is_set():
            consumer.poll(0.05)
        consumer.close()
