"""The suites of clients for Python."""

from __future__ import annotations

from ..frameworks import Pytest
from ..sources import Git, PyPI
from ..suite import Suite

CODECS = ("python-snappy", "lz4", "zstandard", "xxhash", "crc32c")
OWN_BROKER = "starts a broker of its own from a Kafka installation, to which KAFKA_URI does not apply"


def _pytest(*paths: str, timeout_s: int = 120) -> tuple[str, ...]:
    """Returns the command that runs tests and writes their report."""
    return ("{python}", "-m", "pytest", *paths, f"--timeout={timeout_s}", "--junitxml={report}")


KAFKA_PYTHON = Suite(
    name="kafka-python",
    version="3.0.12",
    covers="integration tests",
    source=PyPI("kafka-python"),
    framework=Pytest(),
    packages=("kafka-python==3.0.12", "pytest", "pytest-mock", "pytest-timeout", *CODECS),
    # The source distribution lacks two files of the package `test`. KAFKA_ROOT must be a directory, of which nothing is used.
    prepare=(("touch", "test/__init__.py"), ("cp", "{adapters}/kafka_python_service.py", "test/service.py"), ("mkdir", "-p", "kafka-root")),
    command=_pytest("test/integration", timeout_s=60),
    environment={"KAFKA_URI": "kafka://{bootstrap_servers}", "KAFKA_VERSION": "4.3.0", "KAFKA_ROOT": "{source}/kafka-root"},
    settings={"group.min.session.timeout.ms": "1000"},  # as in its own server.properties
    first_id=0,  # test_create_partitions assigns partitions to node 0
    failures={"test.integration.test_ssl_integration.*": OWN_BROKER},
)

CERTIFICATES = "needs certificates from the container of its own image"
CONFLUENT_SOURCE = Git("https://github.com/confluentinc/confluent-kafka-python")
CONFLUENT_PACKAGES = ("confluent-kafka[schemaregistry,avro,json,protobuf]==2.15.0", "pytest", "pytest-asyncio", "pytest-timeout", "trivup")

CONFLUENT_KAFKA = Suite(
    name="confluent-kafka-python",
    version="2.15.0",
    covers="integration tests of admin, consumer and producer",
    source=CONFLUENT_SOURCE,
    framework=Pytest(),
    packages=CONFLUENT_PACKAGES,
    command=_pytest("tests/integration/admin", "tests/integration/consumer", "tests/integration/producer"),
    environment={"BROKERS": "{bootstrap_servers}"},
    failures={
        "*test_describe_operations?sasl_cluster0?": "needs a cluster with SASL, which the suite would start itself",
    },
)

CONFLUENT_CONSUMER = Suite(
    name="confluent-kafka-python-consumer-protocol",
    version="2.15.0",
    covers="integration tests of the consumer with the group protocol of KIP-848",
    source=CONFLUENT_SOURCE,
    framework=Pytest(),
    packages=CONFLUENT_PACKAGES,
    command=_pytest("tests/integration/consumer"),
    environment={"BROKERS": "{bootstrap_servers}", "TEST_CONSUMER_GROUP_PROTOCOL": "consumer"},
)

CONFLUENT_SHARE = Suite(
    name="confluent-kafka-python-share",
    version="2.15.0",
    covers="integration tests of the share consumer (KIP-932), six of them with the schema registry, which Apache Kafka does not have",
    source=CONFLUENT_SOURCE,
    framework=Pytest(),
    packages=CONFLUENT_PACKAGES,
    command=_pytest("tests/integration/share_consumer"),
    environment={"BROKERS": "{bootstrap_servers}", "SR_URL": "{schema_registry_url}"},
    # The settings of the cluster that the tests would start themselves.
    settings={"group.share.record.lock.duration.ms": "1000", "group.share.min.record.lock.duration.ms": "1000"},
    failures={
        "*test_partition_max_record_locks_caps_in_flight": "the producer writes the 200 records as one batch, and the default "
        "`share.acquire.mode` acquires whole batches beyond `share.partition.max.record.locks`",
    },
)

CONFLUENT_REGISTRY = Suite(
    name="confluent-kafka-python-schema-registry",
    version="2.15.0",
    covers="integration tests of the schema registry's client, and of the serializers for Avro, JSON Schema and Protobuf",
    source=CONFLUENT_SOURCE,
    framework=Pytest(),
    packages=CONFLUENT_PACKAGES,
    command=_pytest("tests/integration/schema_registry/_sync"),
    environment={"BROKERS": "{bootstrap_servers}", "SR_URL": "{schema_registry_url}"},
    failures={
        "*test_api_get_register_schema_invalid?kafka_cluster_cp_7_0_1*": "needs a registry of release 7.0.1, which the suite starts itself",
    },
)

AIOKAFKA = Suite(
    name="aiokafka",
    version="0.14.0",
    covers="unit and integration tests",
    source=Git("https://github.com/aio-libs/aiokafka"),
    framework=Pytest(),
    packages=("aiokafka[lz4,snappy,zstd]==0.14.0", "pytest==9.0.2", "pytest-asyncio==1.3.0", "pytest-mock==3.15.1", "pytest-timeout"),
    # Its conftest.py starts an image of Kafka; the adapter names the cluster that already runs. Without the folder `aiokafka`, the
    # installed package is tested, which has its extension modules.
    prepare=(("cp", "{adapters}/aiokafka_conftest.py", "tests/conftest.py"), ("mv", "aiokafka", "aiokafka-sources")),
    command=_pytest("tests", timeout_s=180),
    environment={"BROKERS": "{bootstrap_servers}", "KAFKA_VERSION": "4.3.1"},
    settings={"num.partitions": "2"},
    first_id=0,  # test_sender__handler_base_do sends to node 0
    left_out={
        "tests/test_sasl.py": "runs kafka-acls and a Kerberos server in the container of its own image",
        "tests/test_helpers.py::test_create_ssl_context": CERTIFICATES,
        "tests/test_consumer.py::TestConsumerIntegration::test_ssl_consume": CERTIFICATES,
        "tests/test_producer.py::TestKafkaProducerIntegration::test_producer_ssl": CERTIFICATES,
    },
)

SUITES = (KAFKA_PYTHON, CONFLUENT_KAFKA, CONFLUENT_CONSUMER, CONFLUENT_SHARE, CONFLUENT_REGISTRY, AIOKAFKA)
