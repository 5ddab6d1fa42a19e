"""A FastStream application that adds up the orders of each customer. Both topics are in Avro, with schemas of a registry.

test_faststream.py runs it in a virtual environment of its own.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from typing import Any

from faststream import FastStream
from faststream.kafka import KafkaBroker, KafkaMessage
from schema_registry.client import AsyncSchemaRegistryClient
from schema_registry.client.schema import AvroSchema
from schema_registry.serializers import AsyncAvroMessageSerializer

TOTAL = AvroSchema(
    {
        "type": "record",
        "name": "Total",
        "fields": [{"name": "customer", "type": "string"}, {"name": "cents", "type": "long"}],
    }
)
serializer = AsyncAvroMessageSerializer(AsyncSchemaRegistryClient(os.environ["SCHEMA_REGISTRY_URL"]))


async def decode(message: KafkaMessage) -> Any:
    return await serializer.decode_message(message.body)


broker = KafkaBroker(os.environ["BOOTSTRAP_SERVERS"].split(","), decoder=decode)
app = FastStream(broker)
totals: Counter[str] = Counter()


async def add(order: dict[str, Any]) -> Any:
    totals[order["customer"]] += order["cents"]
    total = {"customer": order["customer"], "cents": totals[order["customer"]]}
    return await serializer.encode_record_with_schema("totals-value", TOTAL, total)


orders = broker.subscriber("orders", group_id="totals", auto_offset_reset="earliest")
orders(broker.publisher("totals")(add))

if __name__ == "__main__":
    asyncio.run(app.run())
