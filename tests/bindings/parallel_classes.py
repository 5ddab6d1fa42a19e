"""Classes of JUnit that run in parallel share nothing: half of them have a cluster each, the others take turns with shared clusters."""

from __future__ import annotations

from pathlib import Path

from .building import copy_maven_projects, run
from .tools import maven_test

PROJECT = Path(__file__).parent / "parallel"
TEST_CLASS = """\
package parallel;

import io.github.odradekkafka.Odradek;
import io.github.odradekkafka.OdradekTest;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.junit.jupiter.api.RepeatedTest;

@OdradekTest(nodes = 1, topics = "orders:1", shared = {shared})
class {name}Test {{
    @RepeatedTest({tests})
    void isAlone(Odradek kafka, KafkaProducer<String, String> producer, KafkaConsumer<String, String> consumer) throws Exception {{
        Isolation.check(kafka, producer, consumer, "{name}");
    }}
}}
"""
OWN_TESTS, SHARED_TESTS = 1, 2


def run_parallel_classes(folder: Path, count: int) -> str:
    """Runs `count` classes with a cluster of their own and as many with shared clusters, all at the same time, and returns the output."""
    copy_maven_projects(folder, {"parallel": PROJECT})
    tests = folder / "parallel/src/test/java/parallel"
    for number in range(count):
        for kind, shared, each in (("Own", "false", OWN_TESTS), ("Shared", "true", SHARED_TESTS)):
            name = f"{kind}{number}"
            (tests / f"{name}Test.java").write_text(TEST_CLASS.format(name=name, shared=shared, tests=each))
    return run(maven_test("parallel", "parallel.Own*,parallel.Shared*"), folder)


def measure_durations(folder: Path) -> str:
    """Measures the start and stop of a cluster, and a test with a shared one. Returns the output."""
    copy_maven_projects(folder, {"parallel": PROJECT})
    return run(maven_test("parallel", "parallel.DurationTest"), folder)
