"""kcat, a command line program: one process for each partition to produce, and one for each member to consume.

kcat cannot write timestamps, headers of single records, or null values besides empty ones, and it does not show where a header ends. It
commits when it ends, and it creates topics only by requesting the metadata of missing ones.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace

from tests.clients.client import HEARTBEAT_INTERVAL_MS, METADATA_MAX_AGE_MS, PATIENCE_S, REQUEST_TIMEOUT_MS, Record, Unavailable

KEY_ENDS, RECORD_ENDS = b"\x01|key|\x02", b"\x01|record|\x02"
LENGTHS = re.compile(rb"(\d+) (-?\d+) (-?\d+) (-?\d+)\n")  # partition, timestamp, key, value
REBALANCED = re.compile(r"rebalanced .*?: (assigned|revoked): ?(.*)")


class Kcat:
    def __init__(self, settings: Sequence[str] = ()) -> None:
        self._settings = [word for setting in settings for word in ("-X", setting)]
        if shutil.which("kcat") is None:
            raise Unavailable("kcat is not installed")

    def nodes(self, bootstrap_servers: str) -> dict[int, str]:
        metadata = json.loads(_run("-b", bootstrap_servers, "-L", "-J", *self._settings))
        return {broker["id"]: broker["name"] for broker in metadata["brokers"]}

    def create_topic(self, bootstrap_servers: str, topic: str) -> None:
        _run("-b", bootstrap_servers, "-L", "-t", topic, *self._settings)

    def producer(
        self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int = REQUEST_TIMEOUT_MS
    ) -> KcatProducer:
        settings = ["-X", "acks=all", "-X", f"compression.codec={codec}", "-X", f"enable.idempotence={str(idempotent).lower()}"]
        timeout = ["-X", f"socket.timeout.ms={request_timeout_ms}"]
        return KcatProducer(["kcat", "-P", "-E", "-b", bootstrap_servers, "-t", topic, *settings, *timeout, *self._settings])

    def member(self, bootstrap_servers: str, topic: str, group: str) -> KcatMember:
        return KcatMember(bootstrap_servers, topic, group, self._settings)

    def close(self) -> None:
        pass

    def written(self, record: Record) -> Record:
        return replace(record, value=record.value or b"", headers=(("from", b"kcat"), ("null", None)), timestamp_ms=None)

    def read(self, record: Record) -> Record:
        shown = [name.encode() + b"=" + (b"NULL" if value is None else value) for name, value in record.headers]
        return replace(record, headers=(("", b",".join(shown)),) if shown else ())


class KcatProducer:
    def __init__(self, command: list[str]) -> None:
        self._command = [*command, "-H", "from=kcat", "-H", "null", "-K", KEY_ENDS.decode(), "-D", RECORD_ENDS.decode()]
        self._running: list[subprocess.Popen[bytes]] = []

    def send(self, records: list[Record]) -> None:
        for partition in sorted({record.partition for record in records}):
            process = subprocess.Popen([*self._command, "-p", str(partition)], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self._running.append(process)
            assert process.stdin is not None
            process.stdin.write(b"".join(_line(record) for record in records if record.partition == partition))
            process.stdin.close()

    def flush(self) -> None:
        ended = [process.wait(PATIENCE_S) for process in self._running]
        assert not any(ended), f"kcat ended with {ended}"
        self._running = []

    def close(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()


class KcatMember:
    def __init__(self, bootstrap_servers: str, topic: str, group: str, more: Sequence[str]) -> None:
        settings = [
            *more,
            *("-X", "auto.offset.reset=earliest"),
            *("-X", f"heartbeat.interval.ms={HEARTBEAT_INTERVAL_MS}"),
            *("-X", f"topic.metadata.refresh.interval.ms={METADATA_MAX_AGE_MS}"),
        ]
        shown = r"%p %T %K %S\n%k%s%h" + RECORD_ENDS.decode()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the member
        self._process = subprocess.Popen(
            ["kcat", "-E", "-u", "-b", bootstrap_servers, *settings, "-f", shown, "-G", group, topic],
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        self._unparsed = b""

    def poll(self, timeout_s: float) -> list[Record]:
        deadline = time.monotonic() + timeout_s
        records: list[Record] = []
        while not records and select.select([self._output], [], [], max(0, deadline - time.monotonic()))[0]:
            got = os.read(self._output, 1 << 20)
            assert got, "kcat ended"
            self._unparsed += got
            records = self._parse()
        return records

    def _parse(self) -> list[Record]:
        records, position = [], 0
        while lengths := LENGTHS.match(self._unparsed, position):
            partition, timestamp_ms, key_length, value_length = map(int, lengths.groups())
            key_end = lengths.end() + max(key_length, 0)
            value_end = key_end + max(value_length, 0)
            end = self._unparsed.find(RECORD_ENDS, value_end)
            if end < 0:
                break
            key = None if key_length < 0 else self._unparsed[lengths.end() : key_end]
            value = None if value_length < 0 else self._unparsed[key_end:value_end]
            headers = self._unparsed[value_end:end]
            records.append(Record(partition, key, value, (("", headers),) if headers else (), timestamp_ms))
            position = end + len(RECORD_ENDS)
        self._unparsed = self._unparsed[position:]
        return records

    def assignment(self) -> list[int]:
        log = os.pread(self._log.fileno(), 1 << 20, 0).decode()
        kind, partitions = ([("revoked", ""), *REBALANCED.findall(log)])[-1]
        return sorted(map(int, re.findall(r"\[(\d+)\]", partitions))) if kind == "assigned" else []

    def commit(self) -> None:
        """Does nothing: kcat commits every five seconds and when it ends."""

    def close(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.communicate(timeout=PATIENCE_S)
        self._log.close()


def _run(*arguments: str) -> bytes:
    return subprocess.run(["kcat", *arguments], capture_output=True, check=True, timeout=PATIENCE_S).stdout


def _line(record: Record) -> bytes:
    return (b"" if record.key is None else record.key + KEY_ENDS) + (record.value or b"") + RECORD_ENDS
