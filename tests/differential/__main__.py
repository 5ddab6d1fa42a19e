"""Asks Apache Kafka everything anew, records its answers, and compares ours: `make differential`, `FAMILIES="fetch produce"` picks."""

from __future__ import annotations

import sys

from tests.apache_kafka import QUICK, ApacheKafka

from .comparing import differences, known_differences, read_recording, unexplained, write_recording
from .families import FAMILIES
from .playing import SETTINGS, Emulated, Served, play


class Recorded(Served):
    """An Apache Kafka of ours, whose nodes may be stopped."""

    def __init__(self, kafka: ApacheKafka) -> None:
        super().__init__(kafka.bootstrap_servers)
        self.kafka = kafka

    def stop(self, node: int) -> None:
        self.kafka.nodes[node - 1].shut_down()
        self.kafka.wait_until_ready()

    def start(self, node: int) -> None:
        self.kafka.nodes[node - 1].start()
        self.kafka.wait_until_ready()


def main(names: list[str]) -> int:
    known, found = known_differences(), []
    for name in names or FAMILIES:
        cases, settings, nodes, coordinators = FAMILIES[name]
        with ApacheKafka(nodes=nodes, settings={**QUICK, **SETTINGS, **settings}) as kafka:
            theirs = {case.name: answers for case, answers in play(Recorded(kafka), cases(), coordinators)}
        changed = sum(answers != theirs.get(case) for case, answers in read_recording(name).items())
        write_recording(name, theirs)
        ours = {case.name: answers for case, answers in play(Emulated(settings, nodes), cases(), coordinators)}
        differing = differences(theirs, ours)
        found += unexplained(differing, known)
        answers = sum(map(len, theirs.values()))
        print(f"{name}: {len(theirs)} cases, {answers} answers, {changed} otherwise than recorded, {len(differing)} fields differ")  # noqa: T201
    print(*found, sep="\n")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
