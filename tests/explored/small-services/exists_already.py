"""A program that prepares a topic takes "exists already" for "is prepared already". Its twin sets what is missing in any case."""

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType


def is_created(admin, topic):
    try:
        admin.create_topics([NewTopic(topic, 2, 1)], request_timeout=5)[topic].result(10)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
        return False
    return True


def prepare(admin, topic):
    is_created(admin, topic)
    entry = ConfigEntry("retention.ms", "60000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([resource], request_timeout=5)[resource].result(10)


def test_topic_is_prepared(kafka_cluster):
    admin = AdminClient({"bootstrap.servers": kafka_cluster.bootstrap_servers, "log_level": 0})
    for _ in range(5):
        try:
            prepare(admin, "prepared")
            break
        except KafkaException:
            continue
    (topic,) = (each for each in kafka_cluster.topics() if each.name == "prepared")
    assert (len(topic.partitions), topic.configs.get("retention.ms")) == (2, "60000")
