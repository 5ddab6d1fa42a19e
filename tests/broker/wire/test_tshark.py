"""The exchanges that odradek finds in captures, compared with Wireshark's dissector (tshark) for ten thousand generated frames."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random, randrange
from typing import Any

import pytest

from odradek.broker.wire.exchange import Exchange
from odradek.broker.wire.reading.capture import CaptureReader
from odradek.protocol.errors import ErrorCode
from odradek.protocol.schema import Api
from tests.fuzz.answers import Ledger
from tests.fuzz.batches import Batches
from tests.fuzz.facts import TOPICS, Facts
from tests.fuzz.frames import FrameGenerator
from tests.fuzz.rounds import QUICK

from .captures import CapturedClient, CapturedWorld, needs_tshark, tshark_frames

FRAMES = 10_000
CLIENTS = 6
NEWEST: dict[str, int] = {
    "Produce": 8,
    "Fetch": 11,
    "ListOffsets": 5,
    "Metadata": 9,
    "OffsetCommit": 8,
    "OffsetFetch": 7,
    "FindCoordinator": 3,
    "JoinGroup": 7,
    "Heartbeat": 4,
    "LeaveGroup": 4,
    "SyncGroup": 5,
    "DescribeGroups": 5,
    "ListGroups": 3,
    "SaslHandshake": 1,
    "ApiVersions": 3,
    "CreateTopics": 5,
    "DeleteTopics": 4,
    "DeleteRecords": 1,
    "InitProducerId": 3,
    "OffsetForLeaderEpoch": 3,
    "AddPartitionsToTxn": 1,
    "AddOffsetsToTxn": 1,
    "EndTxn": 1,
    "WriteTxnMarkers": 0,
    "TxnOffsetCommit": 3,
    "DescribeAcls": 2,
    "CreateAcls": 2,
    "DeleteAcls": 2,
    "DescribeConfigs": 2,
    "AlterConfigs": 1,
    "AlterReplicaLogDirs": 1,
    "DescribeLogDirs": 1,
    "SaslAuthenticate": 2,
    "CreatePartitions": 2,
    "CreateDelegationToken": 2,
    "RenewDelegationToken": 2,
    "ExpireDelegationToken": 2,
    "DescribeDelegationToken": 2,
    "DeleteGroups": 2,
    "ElectLeaders": 2,
    "IncrementalAlterConfigs": 1,
    "AlterPartitionReassignments": 0,
    "ListPartitionReassignments": 0,
    "OffsetDelete": 0,
}
"""The newest version of each API that the dissector of Wireshark 4.0 reads. It knows no other APIs but for their header."""
UNREAD_ERRORS = {
    *(("DeleteTopics", version) for version in (1, 2)),  # the dissector leaves out the throttle time
    ("DeleteAcls", 1),  # it leaves out the filters
    *(("DescribeGroups", version) for version in range(5)),  # it reads the length of a member's metadata in two bytes instead of four
}
"""Responses in which the dissector finds no errors, or wrong ones, because of its own defects."""
UNREAD_REQUESTS = {"AlterPartitionReassignments", "CreatePartitions", "CreateTopics", "ElectLeaders", "ListPartitionReassignments"}
"""Requests in which the dissector goes beyond the end, for some values, so that it does not recognize the response. It reads the nullable
lists of KIP-455 and KIP-460 as lists that are never null, and the assignments of CreateTopics before v5 with wrong lengths."""

MAX_UNREAD = 5
"""How many responses to other requests the dissector may leave out, because a rare value in the request stops it."""


class ReadableFrames(FrameGenerator):
    """Generates valid frames in the versions that the dissector reads."""

    def _request(self, api: Api, version: int) -> bytes:
        self.draw.wildness = 0
        first, last = api.versions
        return super()._request(api, self.draw.random.randint(first, max(first, min(last, NEWEST.get(api.name, last)))))

    def _damage(self, data: bytes) -> bytes:
        return data


class Traffic:
    """Clients that send generated frames to a captured cluster."""

    def __init__(self, seed: int) -> None:
        self._random, self._facts = Random(seed), Facts()
        self.world = CapturedWorld(nodes=1, settings=QUICK)
        for topic in TOPICS[:3]:
            self.world.cluster.topics.create(topic, 3, 1)
        batches = Batches(seed)
        self._clients: list[tuple[CapturedClient, Ledger]] = [(self.world.client(), Ledger()) for _ in range(CLIENTS)]
        self._frames = [ReadableFrames(self._random, self._facts, batches, {"UnregisterBroker"}) for _ in range(CLIENTS)]

    def run(self, frames: int) -> None:
        while frames > 0:
            number = self._random.randrange(CLIENTS)
            client = self._clients[number][0]
            if client.closed is not None or not client.wants_data():
                if client.closed is None:
                    client.disconnect()
                self._clients[number] = self.world.client(), Ledger()
            client, ledger = self._clients[number]
            data, count = self._frames[number].next_bytes()
            ledger.sent(data)
            client.feed(data)
            if self._random.random() < 0.02:
                self.world.advance(1000)
            frames -= count + self._learn()

    def _learn(self) -> int:
        """Learns from the responses, and returns their number."""
        count = 0
        for (client, ledger), frames in zip(self._clients, self._frames, strict=True):
            for answer in ledger.received(client.sent):
                count += 1
                if (source := frames.sources.pop(answer.correlation_id, None)) is not None:
                    self._facts.learn(answer.api, source, answer.answer)
        return count


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    seed = int(os.environ.get("SEED", randrange(1 << 32)))
    print(f"SEED={seed}")  # noqa: T201 (repeats a failing run)
    traffic = Traffic(seed)
    traffic.run(FRAMES)
    return traffic.world.save(tmp_path_factory.mktemp("capture") / "mixed.pcapng")


def exchanges(path: Path) -> list[Exchange]:
    with path.open("rb") as stream:
        found = CaptureReader(stream)
        listed = [entry for entry in found.entries() if isinstance(entry, Exchange)]
    assert found.problem is None
    return listed


def is_known(exchange: Exchange) -> bool:
    """Returns whether the dissector reads the messages of an exchange."""
    return exchange.version <= NEWEST.get(exchange.api, -1)


def start(exchange: Exchange) -> tuple[int, int, int]:
    return exchange.api_key, exchange.version, exchange.correlation_id


@needs_tshark
def test_explain_agrees_with_tshark_on_every_request(capture: Path) -> None:
    theirs = [
        each
        for frame in tshark_frames(capture)
        if frame.from_client
        for each in zip(frame.keys, frame.versions, frame.correlation_ids, strict=True)
    ]
    ours = [start(exchange) for exchange in exchanges(capture)]
    assert len(ours) > FRAMES * 0.4
    assert ours == theirs


@needs_tshark
def test_explain_agrees_with_tshark_on_every_response(capture: Path) -> None:
    answered = [exchange for exchange in exchanges(capture) if exchange.written is not None]
    responses = iter(sorted(answered, key=lambda exchange: (exchange.written, exchange.sequence)))
    compared: Counter[str] = Counter()
    unread: list[list[Exchange]] = []
    for frame in tshark_frames(capture):
        if frame.from_client:
            continue
        ours = [next(responses) for _ in frame.correlation_ids]
        assert [each.correlation_id for each in ours] == frame.correlation_ids
        if len(frame.keys) < len(ours):
            if not any(each.api in UNREAD_REQUESTS or not is_known(each) for each in ours):
                unread.append(ours)
            continue
        assert [start(each) for each in ours] == list(zip(frame.keys, frame.versions, frame.correlation_ids, strict=True))
        if all(is_known(each) and (each.api, each.version) not in UNREAD_ERRORS for each in ours):
            expected: list[Any] = [ErrorCode(code).name for code in frame.errors]
            assert list(dict.fromkeys(name for each in ours for name in each.errors)) == expected, ours
            compared.update(expected or ["NONE"])
    assert next(responses, None) is None
    assert len(unread) <= MAX_UNREAD, unread
    assert len(compared) > 30 and compared.total() > FRAMES * 0.2, compared
