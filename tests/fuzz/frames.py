"""Generates the frames of one connection: requests of stories that build up state, random requests, and bytes that are not a request."""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random

from odradek.protocol.messages import APIS
from odradek.protocol.schema import Api

from .facts import Facts, Known
from .grammar import uvarint, write_request
from .vocabulary import EDGES, Draw

APIS_BY_NAME = {api.name: api for api in APIS.values()}
STORIES = [
    "CreateTopics Metadata Produce Produce Fetch Fetch ListOffsets DeleteRecords OffsetForLeaderEpoch DescribeProducers DeleteTopics",
    "FindCoordinator JoinGroup JoinGroup SyncGroup Heartbeat OffsetCommit OffsetFetch Heartbeat DescribeGroups LeaveGroup DeleteGroups",
    "FindCoordinator JoinGroup SyncGroup JoinGroup SyncGroup OffsetDelete ListGroups LeaveGroup",
    "ConsumerGroupHeartbeat ConsumerGroupHeartbeat OffsetCommit OffsetFetch ConsumerGroupDescribe ConsumerGroupHeartbeat JoinGroup",
    "FindCoordinator InitProducerId AddPartitionsToTxn Produce Produce AddOffsetsToTxn TxnOffsetCommit DescribeTransactions EndTxn EndTxn",
    "InitProducerId Produce Produce EndTxn Fetch WriteTxnMarkers ListTransactions InitProducerId",
    "Metadata Fetch Fetch Fetch Produce Fetch",
    "CreatePartitions AlterPartitionReassignments ListPartitionReassignments ElectLeaders DescribeTopicPartitions Fetch Produce",
    "IncrementalAlterConfigs AlterConfigs DescribeConfigs ListConfigResources Produce CreateTopics",
    "CreateAcls DescribeAcls DeleteAcls AlterUserScramCredentials DescribeUserScramCredentials DescribeClientQuotas",
]
WEIGHTS = dict.fromkeys(
    ("DeleteTopics", "DeleteGroups", "LeaveGroup", "WriteTxnMarkers", "AlterConfigs", "DeleteRecords", "CreateAcls"), 10
)
WEIGHTS["UnregisterBroker"] = 1
"""APIs that remove the state that other requests need are used less often; all others have the weight 40."""
LARGE_FRAMES, ELEMENTS_OF_LARGE_FRAMES = 0.0005, (300, 3000, 20_000, 30_000)
"""The probability of a frame with large arrays, and how many elements they have together; more than 20,000 are refused."""
TAME, WILD = 0.01, (0.01, 0.05, 0.2, 0.6)
CLIENT_IDS = [b"\xff\xff", b"\0\4fuzz", b"\0\0", b"\0\2\xff\xfe", b"\0\3a\nb", b"\0\xff" + b"c" * 255]


class FrameGenerator:
    """Generates frames from learnt facts. `sources` contains the facts that each request was generated from, by correlation id."""

    def __init__(self, random: Random, facts: Facts, batch: Callable[[Draw], bytes], excluded: Collection[str] = ()) -> None:
        """Leaves out the APIs in `excluded`."""
        self.draw = Draw(random, facts, batch)
        self.sources: dict[int, Known] = {}
        self._story: list[Api] = []
        self._apis = [api for api in APIS.values() if api.name not in excluded for _ in range(WEIGHTS.get(api.name, 40))]
        self._stories = [[APIS_BY_NAME[name] for name in story.split() if name not in excluded] for story in STORIES]
        self._correlation_id = 0

    def next_bytes(self) -> tuple[bytes, int]:
        """Returns the bytes to send next and the approximate number of frames in them."""
        count = 1 if self.draw.chance(0.95) else self.draw.one_of((2, 3, 8))
        data = b"".join(self._frame() for _ in range(count))
        return (data, count) if self.draw.chance(0.97) else (self._damage(data), count)

    def _frame(self) -> bytes:
        draw = self.draw
        if self._story or draw.chance(0.1):
            api, draw.wildness = self._next_of_story(), TAME
            if draw.chance(0.1):
                self._refresh()
        else:
            api, draw.wildness = draw.one_of(self._apis), draw.one_of(WILD)
            self._refresh()
        draw.elements_left = draw.one_of(ELEMENTS_OF_LARGE_FRAMES) if draw.chance(LARGE_FRAMES) else 0
        draw.lengths_before_damage = int(draw.random.random() * 20) if draw.chance(draw.wildness * 0.15) else -1
        return self._request(api, draw.one_of(_VERSIONS[api.key]))

    def _refresh(self) -> None:
        self.draw.known = self.draw.facts.draw(self.draw.random)

    def _next_of_story(self) -> Api:
        if not self._story:
            self._story = list(self.draw.one_of(self._stories))
            self._refresh()
        self._update()
        return self._story.pop(0)

    def _update(self) -> None:
        """Updates the facts of the story to the newest ones about its group, producer, topic and session."""
        known, facts = self.draw.known, self.draw.facts
        for member in facts.members:
            if member.group_id == known.group_id and (member.member_id == known.member_id or not known.member_id):
                _, known.member_id, known.generation_id, known.instance_id = member
        for producer in facts.producers:
            if producer.transactional_id == known.transactional_id:
                _, known.producer_id, known.producer_epoch = producer
        for topic in facts.topics:
            if topic.name == known.topic:
                known.topic_id = topic.id
        for session in facts.sessions:
            if session.session_id == known.session_id:
                known.session_epoch = session.session_epoch

    def _request(self, api: Api, version: int) -> bytes:
        draw = self.draw
        self._correlation_id += 1
        correlation_id = self._correlation_id if draw.random.random() > 0.02 * draw.wildness else draw.one_of(EDGES["i"])
        self.sources[correlation_id] = draw.known
        if draw.chance(draw.wildness * 0.02):
            version = draw.one_of(EDGES["h"])
        key = api.key if draw.random.random() > draw.wildness * 0.005 else draw.one_of(EDGES["h"])
        out = bytearray(4)
        out += (key & 0xFFFF).to_bytes(2, "big") + (version & 0xFFFF).to_bytes(2, "big") + (correlation_id & 0xFFFFFFFF).to_bytes(4, "big")
        out += draw.one_of(CLIENT_IDS) if draw.chance(draw.wildness) else CLIENT_IDS[1]
        if version >= api.request.flexible_from:
            out += b"\0" if draw.random.random() > draw.wildness * 0.1 else _header_tags(draw)
        write_request(out, draw, api, min(max(version, api.versions.first), api.versions.last))
        out[:4] = (len(out) - 4).to_bytes(4, "big")
        return bytes(out)

    def _damage(self, data: bytes) -> bytes:
        """Returns the bytes with damage that no encoder would produce."""
        random, out = self.draw.random, bytearray(data)
        at = int(random.random() * len(out))
        match int(random.random() * 6):
            case 0:
                del out[at:]
            case 1:
                out[at] ^= 1 << int(random.random() * 8)
            case 2:
                out[:4] = (self.draw.one_of((*EDGES["i"], 3, 8, 9, 10, 200, 200_000, 104_857_601)) & 0xFFFFFFFF).to_bytes(4, "big")
            case 3:
                out[at:at] = random.randbytes(int(random.random() * 8))
            case 4:
                out[4:] = random.randbytes(len(out) - 4)
            case _:
                for _ in range(3):
                    out[int(random.random() * len(out))] = self.draw.one_of((0, 1, 127, 128, 255))
        return bytes(out)


def _header_tags(draw: Draw) -> bytes:
    content = draw.random.randbytes(draw.one_of((0, 1, 8)))
    size = draw.one_of((len(content), len(content), len(content) + 1, 0xFFFFFFFF))
    return uvarint(draw.one_of((1, 1, 2, 0x80000000))) + uvarint(draw.one_of((0, 7))) + uvarint(size) + content


_VERSIONS = {api.key: range(api.versions.first, api.versions.last + 1) for api in APIS.values()}
