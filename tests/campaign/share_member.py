"""A member of a share group on asyncio, with which the campaign reads, because no client for asyncio has share groups yet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any
from uuid import uuid4

from odradek import AsyncCluster
from odradek.protocol.batches.records import batches
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.messages.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from odradek.protocol.messages.share_fetch import SHARE_FETCH, AcknowledgementBatch, FetchPartition, FetchTopic, ShareFetchRequest
from odradek.protocol.messages.share_group_heartbeat import SHARE_GROUP_HEARTBEAT, ShareGroupHeartbeatRequest
from odradek.protocol.schema import Api, Message

ACCEPT, RELEASE = 1, 2
TIMEOUT_S = 20
Range = tuple[int, int]


class AnswerError(Exception):
    """A response with an error, after which the member begins again."""


class Connection:
    """A connection to a node. Requests are answered one after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer, self._numbers = reader, writer, count(1)

    @classmethod
    async def to(cls, address: str) -> Connection:
        host, port = address.split(":")
        async with asyncio.timeout(TIMEOUT_S):
            return cls(*await asyncio.open_connection(host, int(port)))

    async def ask(self, api: Api, version: int, request: Message) -> Any:
        """Returns the response to a request. Raises OSError, EOFError, TimeoutError, and AnswerError for an error of the whole request."""
        self._writer.write(b"".join(encode_request(api, version, next(self._numbers), "share-member", request)))
        async with asyncio.timeout(TIMEOUT_S):
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            response = decode_response(api, version, memoryview(await self._reader.readexactly(size)))[1]
        if getattr(response, "error_code", 0):
            raise AnswerError(f"{api.name}: error {response.error_code}")
        return response

    def close(self) -> None:
        self._writer.close()


class ShareMember:
    """A member that accepts most records and releases some.

    `accepted` are the (partition, offset)s whose acceptance a leader has confirmed, and `delivered` those that it got afterwards again.
    """

    def __init__(self, cluster: AsyncCluster, topic: str, group: str, accepted: set[tuple[int, int]], again: list[tuple[int, int]]) -> None:
        self._cluster, self._topic, self._group = cluster, topic, group
        self._accepted, self._again = accepted, again
        self._connections: dict[str, Connection] = {}

    async def run(self) -> None:
        """Reads until it is cancelled."""
        while True:
            try:
                with suppress(OSError, EOFError, TimeoutError, AnswerError):
                    await self._read()
            finally:
                self._close()
            await asyncio.sleep(0.5)

    def _close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    async def _connection(self, address: str) -> Connection:
        if address not in self._connections:
            self._connections[address] = await Connection.to(address)
        return self._connections[address]

    async def _read(self) -> None:
        """Joins the group and reads from the leaders of its partitions until something fails."""
        addresses = self._cluster.bootstrap_servers.split(",")
        found = await (await self._connection(random.choice(addresses))).ask(
            FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=[self._group])
        )
        coordinator = found.coordinators[0]
        if coordinator.error_code:
            raise AnswerError(f"FindCoordinator: error {coordinator.error_code}")
        heartbeats = await Connection.to(f"{coordinator.host}:{coordinator.port}")
        self._connections["coordinator"] = heartbeats
        member_id, epoch, pending = str(uuid4()), 0, dict[int, list[tuple[Range, int]]]()
        assigned: list[int] = []
        sessions = dict[str, int]()
        while True:
            beat = ShareGroupHeartbeatRequest(
                group_id=self._group, member_id=member_id, member_epoch=epoch, subscribed_topic_names=None if epoch else [self._topic]
            )
            answer = await heartbeats.ask(SHARE_GROUP_HEARTBEAT, 1, beat)
            epoch = answer.member_epoch
            if answer.assignment is not None:
                assigned = [index for topic in answer.assignment.topic_partitions for index in topic.partitions]
            for address, indexes in self._leaders(assigned):
                await self._fetch(address, indexes, member_id, sessions, pending)
            await asyncio.sleep(0.5)

    def _leaders(self, assigned: list[int]) -> Iterator[tuple[str, list[int]]]:
        """Yields the addresses of nodes with the assigned partitions that they lead."""
        server = self._cluster._server
        topic = server.cluster.topics[self._topic]
        for node in server.config.nodes:
            if indexes := [index for index in assigned if topic.partitions[index].leader == node.node_id]:
                yield node.client_listener.advertised, indexes

    async def _fetch(
        self, address: str, indexes: list[int], member_id: str, sessions: dict[str, int], pending: dict[int, list[tuple[Range, int]]]
    ) -> None:
        """Acknowledges what the member got before, and fetches more."""
        topic_id = self._cluster._server.cluster.topics[self._topic].id
        sent = {index: pending.pop(index, []) for index in indexes} if sessions.get(address) else dict[int, list[tuple[Range, int]]]()
        parts = [
            FetchPartition(
                partition_index=index,
                acknowledgement_batches=[
                    AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[kind])
                    for (first, last), kind in sent.get(index, [])
                ],
            )
            for index in indexes
        ]
        request = ShareFetchRequest(
            group_id=self._group,
            member_id=member_id,
            share_session_epoch=sessions.get(address, 0),
            max_wait_ms=200,
            min_bytes=1,
            max_records=50,
            batch_size=50,
            topics=[FetchTopic(topic_id=topic_id, partitions=parts)],
            forgotten_topics_data=[],
        )
        answer = await (await self._connection(address)).ask(SHARE_FETCH, 1, request)
        sessions[address] = sessions.get(address, 0) + 1
        for part in (part for topic in answer.responses for part in topic.partitions):
            if part.error_code or part.acknowledge_error_code:
                raise AnswerError(f"ShareFetch: errors {part.error_code} and {part.acknowledge_error_code}")
        for index, acknowledgements in sent.items():
            for (first, last), kind in acknowledgements:
                if kind == ACCEPT:
                    self._accepted.update((index, offset) for offset in range(first, last + 1))
        for part in (part for topic in answer.responses for part in topic.partitions):
            self._take(part, pending.setdefault(part.partition_index, []))

    def _take(self, part: Any, pending: list[tuple[Range, int]]) -> None:
        """Notes the acquired records, of which every seventh offset is released once."""
        values = {record.offset for batch in batches(part.records) for record in batch.records()}
        for acquired in part.acquired_records:
            for offset in range(acquired.first_offset, acquired.last_offset + 1):
                if offset in values and (part.partition_index, offset) in self._accepted:
                    self._again.append((part.partition_index, offset))
                releases = offset % 7 == 0 and acquired.delivery_count == 1
                pending.append(((offset, offset), RELEASE if releases else ACCEPT))
