"""A client in a child process, which exchanges lines of JSON over its standard input and output.

    {"on": 0, "call": "producer", "with": ["127.0.0.1:9092", "orders", "lz4", true, 30000]}    {"result": 1}
    {"on": 1, "call": "send", "with": [[[0, "a2V5", null, [["name", "dmFsdWU="]], 1700000000000]]]}    {"result": null}

`on` is 0 for the client, or the number that `producer` or `member` has returned. Bytes are base64, and a record is an array of its fields.
"""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from tests.clients.client import PATIENCE_S, REQUEST_TIMEOUT_MS, FaithfulClient, Record

ROOT = Path(__file__).parents[2]


class Child:
    """The parent's side of a child process."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=ROOT)

    def call(self, on: int, call: str, *arguments: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"on": on, "call": call, "with": arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the client ended with {self._process.wait(PATIENCE_S)}"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def close(self) -> None:
        self._process.communicate(timeout=PATIENCE_S)

    def kill(self) -> None:
        self._process.kill()
        self.close()


class ChildClient(FaithfulClient):
    def __init__(self, child: Child) -> None:
        self._child = child

    def nodes(self, bootstrap_servers: str) -> dict[int, str]:
        return {int(node_id): address for node_id, address in self._child.call(0, "nodes", bootstrap_servers).items()}

    def create_topic(self, bootstrap_servers: str, topic: str) -> None:
        self._child.call(0, "create_topic", bootstrap_servers, topic)

    def producer(
        self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int = REQUEST_TIMEOUT_MS
    ) -> ChildProducer:
        number = self._child.call(0, "producer", bootstrap_servers, topic, codec, idempotent, request_timeout_ms)
        return ChildProducer(self._child, number)

    def member(self, bootstrap_servers: str, topic: str, group: str) -> ChildMember:
        return ChildMember(self._child, self._child.call(0, "member", bootstrap_servers, topic, group))

    def close(self) -> None:
        self._child.close()


class ChildProducer:
    def __init__(self, child: Child, number: int) -> None:
        self._child, self._number = child, number

    def send(self, records: list[Record]) -> None:
        self._child.call(self._number, "send", [to_json(record) for record in records])

    def flush(self) -> None:
        self._child.call(self._number, "flush")

    def close(self) -> None:
        self._child.call(self._number, "close")


class ChildMember:
    def __init__(self, child: Child, number: int) -> None:
        self._child, self._number = child, number

    def poll(self, timeout_s: float) -> list[Record]:
        return [from_json(record) for record in self._child.call(self._number, "poll", timeout_s)]

    def assignment(self) -> list[int]:
        partitions: list[int] = self._child.call(self._number, "assignment")
        return partitions

    def commit(self) -> None:
        self._child.call(self._number, "commit")

    def close(self) -> None:
        self._child.call(self._number, "close")


def serve(client: object, requests: TextIO, answers: TextIO) -> None:
    """Runs the child's side for clients in Python: executes calls until the end of the input."""
    objects: list[Any] = [client]
    for line in requests:
        request = json.loads(line)
        try:
            result = _do(getattr(objects[request["on"]], request["call"]), request["call"], request["with"])
        except Exception as error:
            answer: dict[str, Any] = {"error": repr(error)}
        else:
            if request["call"] in ("producer", "member"):
                objects.append(result)
                result = len(objects) - 1
            answer = {"result": result}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _do(method: Callable[..., Any], call: str, arguments: list[Any]) -> Any:
    if call == "send":
        return method([from_json(record) for record in arguments[0]])
    result = method(*arguments)
    return [to_json(record) for record in result] if call == "poll" else result


def to_json(record: Record) -> list[Any]:
    headers = [[name, _text(value)] for name, value in record.headers]
    return [record.partition, _text(record.key), _text(record.value), headers, record.timestamp_ms]


def from_json(fields: list[Any]) -> Record:
    partition, key, value, headers, timestamp_ms = fields
    return Record(partition, _bytes(key), _bytes(value), tuple((name, _bytes(value)) for name, value in headers), timestamp_ms)


def _text(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
