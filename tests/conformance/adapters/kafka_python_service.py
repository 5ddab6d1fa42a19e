"""The module `test.service` of kafka-python, which its source distribution lacks: a broker that already runs."""

from __future__ import annotations


class ExternalService:
    """A broker that the tests neither start nor stop."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    def open(self) -> None: ...

    def close(self) -> None: ...

    def dump_logs(self) -> None: ...


class SpawnedService:
    """A broker of the tests' own, which is not available."""

    def __init__(self, *_: object, **__: object) -> None:
        raise RuntimeError("this run has no Kafka installation from which tests can start a broker")
