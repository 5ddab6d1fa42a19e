"""kafka-python 1.4.7 (2019) and 2.0.2 (2020), in a child process that finds the older package before the installed one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tests.clients.child import Child, ChildClient, serve
from tests.clients.client import METADATA_MAX_AGE_MS, REQUEST_TIMEOUT_MS, Record, Unavailable


class OlderKafkaPython(ChildClient):
    def __init__(self, version: str) -> None:
        super().__init__(Child([sys.executable, "-m", __name__, str(_installed(version))]))

    def written(self, record: Record) -> Record:
        return replace(record, headers=tuple((name, value or b"") for name, value in record.headers))


def _installed(version: str) -> Path:
    """Returns the directory in the user's cache with the package, which pip fetches on first use. Raises Unavailable."""
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", f"kafka-python-{version}").expanduser()
    if not (home / "complete").exists():
        shutil.rmtree(home, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", f"--target={home}"]
        if subprocess.run([*pip, f"kafka-python=={version}"], stdout=sys.stderr).returncode:
            raise Unavailable(f"pip cannot fetch kafka-python {version}")
        (home / "complete").touch()
    return home


def _find(home: str) -> None:
    """Has `kafka` be the package in `home`.

    From Python 3.12 on, its copy of six cannot be imported, because it has the import hooks of Python 3.3 only. The installed six, whose
    interface is the same, replaces it.
    """
    import six  # type: ignore[import-untyped]

    sys.path.insert(0, home)
    sys.modules["kafka.vendor.six"], sys.modules["kafka.vendor.six.moves"] = six, six.moves


if __name__ == "__main__":
    _find(sys.argv[1])
    import kafka
    from kafka.admin import KafkaAdminClient, NewTopic

    from tests.clients import kafka_python

    class InProcess(kafka_python.InProcess):
        """The adapter of today's kafka-python, without the options that the older ones lack."""

        def create_topic(self, bootstrap_servers: str, topic: str) -> None:
            with closing(KafkaAdminClient(bootstrap_servers=bootstrap_servers)) as admin:
                admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=2)])

        def producer(
            self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int = REQUEST_TIMEOUT_MS
        ) -> kafka_python.KafkaPythonProducer:
            producer = kafka_python.KafkaPythonProducer.__new__(kafka_python.KafkaPythonProducer)
            producer._topic, producer._sent = topic, []
            producer._producer = kafka.KafkaProducer(
                bootstrap_servers=bootstrap_servers,
                acks="all",
                compression_type=None if codec == "none" else codec,
                request_timeout_ms=request_timeout_ms,
                linger_ms=5,
                metadata_max_age_ms=METADATA_MAX_AGE_MS,
            )
            return producer

    serve(InProcess(), sys.stdin, sys.stdout)
