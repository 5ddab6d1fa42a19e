"""The suites of clients for Go."""

from __future__ import annotations

from ..frameworks import GoTest
from ..sources import GoModule
from ..suite import Suite

FRANZ_GO = Suite(
    name="franz-go",
    version="1.22.2",
    covers="tests of the package kgo: unit tests, groups of both protocols, share groups, transactions",
    source=GoModule("github.com/twmb/franz-go"),
    framework=GoTest(),
    command=("go", "test", "-json", "-timeout=25m", "-p=1", "./pkg/kgo"),
    environment={"KGO_SEEDS": "{bootstrap_servers}", "KGO_TEST_RF": "1", "KGO_TEST_RECORDS": "50000", "KGO_LOG_LEVEL": "none"},
)

TOXIPROXY = "needs Toxiproxy between the client and each broker, on fixed ports"
DOCKER = "stops and starts containers of brokers"

SARAMA = Suite(
    name="sarama",
    version="1.61.1",
    covers="functional tests whose names begin with TestFunc",
    source=GoModule("github.com/IBM/sarama"),
    framework=GoTest(),
    # The tests find the brokers through Toxiproxy on fixed ports. Most tests only use its addresses, which are replaced by the cluster's.
    prepare=(
        ("sed", "-i", 's/fmt.Sprintf("127.0.0.1:%d", 29090+i)/strings.Split(os.Getenv("BROKERS"), ",")[i-1]/', "functional_test.go"),
        ("sed", "-i", 's/return fmt.Errorf("failed to create toxiproxy: %w", err)/proxy = nil/', "functional_test.go"),
        ("sed", "-i", "s/env.Proxies.proxyName. = proxy/_ = proxy/", "functional_test.go"),
        ("sed", "-i", "s/FunctionalTestEnv.ToxiproxyClient.ResetState()/error(nil)/", "functional_test.go"),
    ),
    command=("go", "test", "-json", "-tags=functional", "-timeout=25m", "-run=^TestFunc", "."),
    environment={"BROKERS": "{bootstrap_servers}", "TOXIPROXY_ADDR": "http://127.0.0.1:1", "KAFKA_VERSION": "4.3.1"},
    nodes=5,
    settings={"auto.create.topics.enable": "false", "default.replication.factor": "2", "num.partitions": "1"},
    left_out={
        "TestFuncConnectionFailure": TOXIPROXY,
        "TestFuncAdminNetworkErrorClosesControllerConnection": TOXIPROXY,
        "TestFuncProducingIdempotentWithBrokerFailure": TOXIPROXY,
        "TestFuncIdempotentBufferedSequence": "reads the logs of the brokers' containers",
        "TestFuncAdminListConsumerGroupOffsets": DOCKER,
        "TestFuncTxnProduceWithBrokerFailure": DOCKER,
    },
    failures={"TestFuncProducing*": "expects a latency of at least 10 ms, which Toxiproxy adds"},
)

SUITES = (FRANZ_GO, SARAMA)
