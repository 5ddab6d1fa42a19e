"""Acts that damage fetched batches, or the frame of a response. They work on copies, so that the log stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import cast

from ...protocol.batches.records import CRC_START, HEADER, first_batch_size
from ...protocol.frame import LENGTH, Buffer
from ...protocol.messages.fetch import FetchResponse, PartitionData
from ...protocol.schema import Message
from ..api.gate import Answering, Asked
from .acts import Act, Deliver, Delivering, Serve
from .elements import Element, Elements

BATCH_KINDS = ("crc", "bit", "truncate")
FRAME_KINDS = ("length", "correlation_id")
_CRC_POSITION = CRC_START - 4
_CORRELATION_ID_POSITION = LENGTH.size
_SIGN_BIT = 0x80
_OTHER_ID_BIT = 0x40
"""Changes the correlation id to one that no client reaches by counting."""


class CorruptFetch(Act):
    """Damages the first batch of each selected partition: its CRC, one bit of its records, or its end, which is missing.

    Only a response with records counts as a hit.
    """

    strikes_later = True

    def __init__(self, kind: str, random: Random, elements: Elements) -> None:
        self._kind = kind
        self._random = random
        self._elements = elements

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        response = yield from rest(request)
        if isinstance(response, FetchResponse):
            found = list(self._select(response))
            if found and self.fault.strike(asked, [element for element, _ in found]) is None:
                for _, data in found:
                    data.records = self._damage(bytearray(b"".join(cast("list[memoryview]", data.records))))
        return response

    def _select(self, response: FetchResponse) -> Iterator[tuple[Element, PartitionData]]:
        """Yields the partitions with records that the criteria select."""
        for topic in response.responses:
            scope = self._elements.item(topic, Element(), "responses")
            for data in topic.partitions:
                element = scope._replace(partition=data.partition_index)
                if data.records and self.fault.criteria.selects(element):
                    yield element, data

    def _damage(self, records: bytearray) -> bytearray:
        size = first_batch_size(memoryview(records)) or len(records)
        if self._kind == "truncate":
            return records[: (HEADER.size + size) // 2]
        if self._kind == "crc":
            position, bit = _CRC_POSITION, 0
        else:
            position, bit = self._random.randrange(HEADER.size, size), self._random.randrange(8)
        records[position] ^= 1 << bit
        return records


class CorruptFrame(Act):
    """Makes the length of the response's frame negative, or changes its correlation id to one that the client has not used."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def deliver(self, _asked: Asked, parts: list[Buffer], rest: Deliver) -> Delivering:
        frame = bytearray(b"".join(parts))
        if frame and self._kind == "length":
            frame[0] ^= _SIGN_BIT
        elif frame:
            frame[_CORRELATION_ID_POSITION] ^= _OTHER_ID_BIT
        yield from rest([frame] if frame else [])
