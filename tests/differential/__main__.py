"""Records Apache Kafka's answers to all cases and compares ours with them: `make differential`, or `FAMILIES="fetch produce"` for some."""

from __future__ import annotations

import sys

from tests.apache_kafka import QUICK, VERSION, ApacheKafka

from .clusters import SETTINGS, EmulatedCluster, ServedCluster
from .comparison import differences, known_differences, read_recording, unexplained, write_recording
from .families import FAMILIES
from .replay import replay

VERSIONS = {"": VERSION, "2.8": "2.8.2", "3.9": "3.9.1"}
"""The version of Apache Kafka that answers the cases of a family, by its `as_version`."""


def _texts(kafka: ApacheKafka) -> dict[str, str]:
    """Returns the name of the directory of node 1, if the cases are about directories: others do not show where a log is."""
    about_directories = any("{directory}" in value for value in kafka.settings.values())
    return {"directory": str(kafka.nodes[0].directory)} if about_directories else {}


class RecordedKafka(ServedCluster):
    """An Apache Kafka that this process has started, so that its nodes can be stopped."""

    def __init__(self, kafka: ApacheKafka) -> None:
        super().__init__(kafka.bootstrap_servers, {name: kafka.addresses(name) for name in kafka.listeners})
        self.kafka, self.texts = kafka, _texts(kafka)

    def stop(self, node: int) -> None:
        self.kafka.nodes[node - 1].shut_down()
        self.kafka.wait_until_ready()

    def start(self, node: int) -> None:
        self.kafka.nodes[node - 1].start()
        self.kafka.wait_until_ready()

    def kill(self, node: int) -> None:
        self.kafka.nodes[node - 1].kill()

    def suspend(self, node: int) -> None:
        self.kafka.nodes[node - 1].suspend()

    def resume(self, node: int) -> None:
        self.kafka.nodes[node - 1].resume()


def main(names: list[str]) -> int:
    known, found = known_differences(), []
    for name in names or FAMILIES:
        family = FAMILIES[name]
        listeners = {"SASL": "SASL_PLAINTEXT"} if family.sasl else {}
        settings, version = {**QUICK, **SETTINGS, **family.settings}, VERSIONS[family.as_version]
        with ApacheKafka(nodes=family.nodes, settings=settings, listeners=listeners, version=version) as kafka:
            theirs = {case.name: answers for case, answers in replay(RecordedKafka(kafka), family.cases(), family.coordinators)}
        changed = sum(answers != theirs.get(case) for case, answers in read_recording(name).items())
        write_recording(name, theirs)
        emulated = EmulatedCluster(family.settings, family.nodes, sasl=family.sasl, as_version=family.as_version)
        ours = {case.name: answers for case, answers in replay(emulated, family.cases(), family.coordinators)}
        differing = differences(theirs, ours)
        found += unexplained(differing, known)
        answers = sum(map(len, theirs.values()))
        print(f"{name}: {len(theirs)} cases, {answers} answers, {changed} cases changed, {len(differing)} fields differ")  # noqa: T201
    print(*found, sep="\n")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
