"""Writes or reads records in Avro with the serializers of confluent-kafka, which keep their schemas in a registry.

It runs in a virtual environment: avro_client.py produce|consume BOOTSTRAP_SERVERS REGISTRY COUNT
"""

from __future__ import annotations

import json
import sys

from confluent_kafka import DeserializingConsumer, SerializingProducer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "id", "type": "int"}, {"name": "customer", "type": "string"}],
    }
)
PATIENCE_S = 60.0


def produce(servers: str, registry: SchemaRegistryClient, count: int) -> None:
    serializer = AvroSerializer(registry, SCHEMA)
    producer = SerializingProducer({"bootstrap.servers": servers, "value.serializer": serializer, "enable.idempotence": True})
    for number in range(count):
        producer.produce("orders", value={"id": number, "customer": f"customer {number}"})
    assert producer.flush(PATIENCE_S) == 0


def consume(servers: str, registry: SchemaRegistryClient, count: int) -> None:
    deserializer = AvroDeserializer(registry)
    consumer = DeserializingConsumer(
        {"bootstrap.servers": servers, "group.id": "avro", "auto.offset.reset": "earliest", "value.deserializer": deserializer}
    )
    consumer.subscribe(["orders"])
    for _ in range(count):
        message = consumer.poll(PATIENCE_S)
        assert message is not None and message.error() is None, message and message.error()
        print(json.dumps(message.value()), flush=True)  # noqa: T201
    consumer.close()


if __name__ == "__main__":
    command, servers, url, count = sys.argv[1:]
    {"produce": produce, "consume": consume}[command](servers, SchemaRegistryClient({"url": url}), int(count))
