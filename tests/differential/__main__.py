"""Records Apache Kafka's answers to all cases and compares ours with them: `make differential`, or `FAMILIES="fetch produce"` for some."""

from __future__ import annotations

import sys

from tests.apache_kafka import QUICK, ApacheKafka

from .clusters import SETTINGS, EmulatedCluster, ServedCluster
from .comparison import differences, known_differences, read_recording, unexplained, write_recording
from .families import FAMILIES
from .replay import replay


class RecordedKafka(ServedCluster):
    """An Apache Kafka that this process has started, so that its nodes can be stopped."""

    def __init__(self, kafka: ApacheKafka) -> None:
        super().__init__(kafka.bootstrap_servers, {name: kafka.addresses(name) for name in kafka.listeners})
        self.kafka, self.texts = kafka, {"directory": str(kafka.nodes[0].directory)}

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
        cases, settings, nodes, coordinators, sasl = FAMILIES[name]
        listeners = {"SASL": "SASL_PLAINTEXT"} if sasl else {}
        with ApacheKafka(nodes=nodes, settings={**QUICK, **SETTINGS, **settings}, listeners=listeners) as kafka:
            theirs = {case.name: answers for case, answers in replay(RecordedKafka(kafka), cases(), coordinators)}
        changed = sum(answers != theirs.get(case) for case, answers in read_recording(name).items())
        write_recording(name, theirs)
        ours = {case.name: answers for case, answers in replay(EmulatedCluster(settings, nodes, sasl=sasl), cases(), coordinators)}
        differing = differences(theirs, ours)
        found += unexplained(differing, known)
        answers = sum(map(len, theirs.values()))
        print(f"{name}: {len(theirs)} cases, {answers} answers, {changed} cases changed, {len(differing)} fields differ")  # noqa: T201
    print(*found, sep="\n")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
