"""Checks the answers of a connection: each must belong to the oldest open request and must decode completely."""

from __future__ import annotations

from collections import deque
from typing import Any

from odradek.protocol.messages import APIS
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.schema import Api

REQUEST_PREFIX = 8
"""The size of key, version and correlation id, without which an answer cannot be decoded."""


Request = tuple[int, int, int]
"""Key, version and correlation id."""


class WrongAnswer(AssertionError):
    """The broker has sent an answer that a Kafka client cannot read."""


class DecodedAnswer:
    __slots__ = ("answer", "api", "correlation_id", "version")

    def __init__(self, api: Api, version: int, correlation_id: int, answer: Any) -> None:
        self.api, self.version, self.correlation_id, self.answer = api, version, correlation_id, answer


class Ledger:
    """Tracks the requests and answers of a connection, including damaged frames.

    Frames are separated as the broker must separate them: by the length in the four bytes before each.
    """

    def __init__(self) -> None:
        self._sent = bytearray()
        self.open: deque[Request] = deque()
        """Requests without an answer, oldest first."""

    def sent(self, data: bytes) -> None:
        """Records bytes that are sent to the broker."""
        sent = self._sent
        sent += data
        position = 0
        while len(sent) - position >= 4:
            size = int.from_bytes(sent[position : position + 4], "big", signed=True)
            following = position + 4 + size
            if size < 0 or following > len(sent):
                break  # the broker closes the connection or waits for the rest
            if size >= REQUEST_PREFIX:
                head = sent[position + 4 : position + 4 + REQUEST_PREFIX]
                key, version = (int.from_bytes(head[at : at + 2], "big", signed=True) for at in (0, 2))
                self.open.append((key, version, int.from_bytes(head[4:], "big", signed=True)))
            position = following
        del sent[:position]

    def received(self, data: bytearray) -> list[DecodedAnswer]:
        """Removes complete answers from `data` and returns them decoded. Raises WrongAnswer."""
        answers = []
        while len(data) >= 4:
            size = int.from_bytes(data[:4], "big")
            if len(data) < 4 + size:
                break
            answers.append(self._answer(bytes(data[4 : 4 + size])))
            del data[: 4 + size]
        return answers

    def _answer(self, frame: bytes) -> DecodedAnswer:
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        while self.open and self.open[0][2] != correlation_id and self.open[0][0] == PRODUCE.key:
            self.open.popleft()  # a request with acks=0 has no answer
        if not self.open or self.open[0][2] != correlation_id:
            raise WrongAnswer(
                f"answer to {correlation_id}, but the oldest open request is {self.open and self.open[0]}: {frame[:100].hex()}"
            )
        key, version, _ = self.open.popleft()
        api = APIS[key]
        if version not in api.versions:
            if api is not API_VERSIONS:
                raise WrongAnswer(f"{api.name} v{version} is not served, but was answered: {frame[:100].hex()}")
            version = 0
        return DecodedAnswer(api, version, correlation_id, _decoded(api, version, frame))

    @property
    def unanswered(self) -> bool:
        """Whether there is a request that must be answered eventually."""
        return any(key != PRODUCE.key for key, _, _ in self.open)


def _decoded(api: Api, version: int, frame: bytes) -> Any:
    position = 4
    if api.response_header_version(version):
        if frame[4] != 0:
            raise WrongAnswer(f"{api.name} v{version} has {frame[4]} tagged fields in its header")
        position = 5
    try:
        answer, end = api.response.decoders[version](memoryview(frame), position)
    except ValueError as error:
        raise WrongAnswer(f"{api.name} v{version} does not decode: {error}: {frame[:400].hex()}") from error
    if end != len(frame):
        raise WrongAnswer(f"{api.name} v{version} has {len(frame) - end} bytes too many: {frame[:400].hex()}")
    return answer
