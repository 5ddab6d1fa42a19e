"""Roles of clients: transcripts of requests, with the role and the number of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.exploring.roles import RequestCounter, Sender
from odradek.protocol.messages import APIS
from odradek.protocol.schema import Message
from tests.broker.exploring.requests import request_of
from tests.transcripts import replay

FOLDER = Path(__file__).parent / "transcripts"
_APIS = {api.name: api for api in APIS.values()}


class RolePlayer:
    """Plays lines such as `1 rdkafka JoinGroup group_id=billing`: the connection, the client id, the API and fields of the request."""

    def __init__(self) -> None:
        self._counter = RequestCounter()

    def play(self, lines: list[str]) -> str:
        return "\n".join(map(self._play, lines))

    def _play(self, line: str) -> str:
        connection, client_id, api, *fields = line.split()
        request: Message = request_of(_APIS[api], fields)
        role, number = self._counter.count(Sender(int(connection), client_id, "127.0.0.1"), api, request)
        return f"{api}#{number}@{role.text} = {role.ordinal_text}: {role}"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.roles.txt")), ids=lambda path: path.name)
def test_transcript_of_roles(path: Path) -> None:
    replay(path, RolePlayer())
