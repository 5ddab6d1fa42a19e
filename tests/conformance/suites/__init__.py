"""The suites, by name."""

from __future__ import annotations

from ..suite import NotRun, Suite
from . import c, go, node, python

SUITES: dict[str, Suite] = {suite.name: suite for suite in (*python.SUITES, *go.SUITES, *node.SUITES, *c.SUITES)}

NOT_RUN = [
    NotRun(
        "confluent-kafka-python: SASL and OAuth directories, asynchronous tests of the registry",
        "need listeners and an identity provider that the suite starts in containers, or a fixture that it has only for its own cluster",
    ),
    NotRun(
        "Apache Kafka's own client tests", "start a cluster of Kafka's server classes in their own process, and have no option for another"
    ),
    NotRun("kafka-go", "its files contain `localhost:9092` as the address of the broker and as an expected value"),
    NotRun("librdkafka: tests outside the list", "take minutes each, or run Kafka's shell scripts on the machine of the broker"),
    NotRun("confluent-kafka-javascript", "not tried yet: its native module has to be built first"),
]
