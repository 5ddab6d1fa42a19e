"""Shows odradek in one minute: two brokers and a topic, used by librdkafka, kafka-python and Spark."""

from __future__ import annotations

import sys

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from kafka import KafkaConsumer, KafkaProducer

from odradek import Cluster
from spark_session import spark_session


def with_librdkafka(servers: str) -> None:
    """Writes three records and reads them in a consumer group."""
    print("\nbrokers, as librdkafka sees them:")
    for broker in AdminClient({"bootstrap.servers": servers}).list_topics().brokers.values():
        print(f"  {broker}")
    producer = Producer({"bootstrap.servers": servers})
    for number in range(3):
        producer.produce("orders", key=f"customer-{number}", value=f"order {number}, by librdkafka")
    producer.flush()
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "shop", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    print("consumed by librdkafka in the group `shop`:")
    for _ in range(3):
        message = consumer.poll(10)
        assert message is not None, "no message within 10 s"
        print(f"  {message.topic()}-{message.partition()} @ {message.offset()}: {message.value().decode()}")
    consumer.close()


def with_kafka_python(servers: str) -> None:
    """Writes three more records and reads them from the committed offsets of the group `shop`."""
    producer = KafkaProducer(bootstrap_servers=servers)
    for number in range(3, 6):
        producer.send("orders", key=f"customer-{number}".encode(), value=f"order {number}, by kafka-python".encode())
    producer.close()
    consumer = KafkaConsumer("orders", bootstrap_servers=servers, group_id="shop", auto_offset_reset="earliest", consumer_timeout_ms=10_000)
    print("consumed by kafka-python in the same group, from where the other left off:")
    for _, message in zip(range(3), consumer, strict=False):
        print(f"  {message.topic}-{message.partition} @ {message.offset}: {message.value.decode()}")
    consumer.close()


def with_spark(servers: str) -> None:
    """Reads all partitions into a data frame."""
    spark = spark_session("odradek demo")
    orders = spark.read.format("odradek").option("kafka.bootstrap.servers", servers).option("subscribe", "orders").load()
    print("read by Spark:")
    orders.selectExpr("partition", "offset", "string(key)", "string(value)", "timestamp").orderBy("partition", "offset").show(
        truncate=False
    )
    spark.stop()


def main() -> None:
    """Starts two brokers and runs all clients."""
    with Cluster(nodes=2, topics={"orders": 4}) as cluster:
        print(f"two brokers: {cluster.bootstrap_servers}")
        with_librdkafka(cluster.bootstrap_servers)
        with_kafka_python(cluster.bootstrap_servers)
        sys.stdout.flush()
        with_spark(cluster.bootstrap_servers)


if __name__ == "__main__":
    main()
