"""The suites of clients for Node."""

from __future__ import annotations

from ..frameworks import Jest
from ..sources import Git
from ..suite import Suite

SECURED = "connects to the TLS and SASL listeners of its own containers"
EXPIRED = "joins with a rebalance time-out of 0 ms and expires before it sends SyncGroup"
LOCALHOST = "expects brokers that advertise `localhost` instead of 127.0.0.1"
OLD_ANSWER = "compares with the complete answer of Kafka 2.4, where for instance the error message was null instead of empty"
HELPERS = "testHelpers/index.js"

KAFKAJS = Suite(
    name="kafkajs",
    version="2.2.4",
    covers="integration and unit tests of admin, broker, cluster, consumer and producer",
    source=Git("https://github.com/tulios/kafkajs"),
    framework=Jest(),
    needs=("npm", "node"),
    # The helpers of the tests name fixed ports on localhost, which are replaced by the cluster's addresses.
    prepare=(
        ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"),
        ("sed", "-i", "-e", "s/=> 'localhost'/=> process.env.HOST/", "-e", "s/port: 9092/port: Number(process.env.PORT)/", HELPERS),
        ("sed", "-i", "-e", "/^const plainTextBrokers/s/=> .*/=> process.env.BROKERS.split(',')/", HELPERS),
        ("sed", "-i", "-e", "s/()}}:9092`/()}}:${{process.env.PORT}}`/", HELPERS),
    ),
    command=(
        "npx",
        "jest",
        "--ci",
        "--forceExit",
        "--runInBand",
        "--reporters=default",
        "--json",
        "--outputFile={report}",
        "--testPathPattern=src/(admin|broker|cluster|consumer|producer|instrumentation|network)/",
    ),
    environment={"HOST": "{host}", "PORT": "{port}", "BROKERS": "{bootstrap_servers}", "KAFKA_VERSION": "4.3", "NODE_ENV": "test"},
    nodes=3,
    first_id=0,
    settings={"num.partitions": "2", "default.replication.factor": "2"},
    left_out={
        "src/admin/__tests__/(connection|createAcls|deleteAcls|describeAcls)": SECURED,
        "src/broker/__tests__/(connect|disconnect|reauthenticate)": SECURED,
        "src/consumer/__tests__/connection": SECURED,
        "src/network/connection": SECURED,
    },
    failures={
        "Broker > FindGroupCoordinator request": LOCALHOST,
        "Broker > Metadata request": LOCALHOST,
        "Broker > Heartbeat request": EXPIRED,
        "Broker > OffsetCommit request*": EXPIRED,
        "Broker > OffsetFetch request": EXPIRED,
        "Consumer recovers from offset out of range": EXPIRED,
        "Broker > ListOffsets v0 request": "sends version 0 of ListOffsets, which Kafka 4.0 removed",
        "*max timestamp difference configured": "sets `message.timestamp.difference.max.ms`, which Kafka 4.0 removed",
        "Broker > TxnOffsetCommit ignores invalid transaction fields": "commits with an unknown producer id, which Kafka 2.4 did not check",
        "Broker > *Acls request": OLD_ANSWER,
        "Broker > describeConfigs *": OLD_ANSWER,
        "Consumer trigger rebalance if partitions change*": "runs a script in the container of its own broker",
        "Producer emits the request timeout event": "sets a request time-out of 1 ms, and odradek answers within that",
        "Producer * S[AS]*": SECURED,
    },
)

SUITES = (KAFKAJS,)
