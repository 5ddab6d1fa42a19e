"""A team removes a field from its orders, and a service still reads it.

The schema registry refuses schemas that break the rule of their subject. The usual
rule, BACKWARD, protects new readers of old orders. The test proves that FORWARD,
which protects readers that run already, refuses orders without the total, so that
none of them is sent, and that a new field passes.
"""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from confluent_kafka import Producer

RULE = {"compatibility": "FORWARD"}


def ask_registry(method, url, body):
    headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
    request = Request(url, json.dumps(body).encode(), headers, method=method)
    with urlopen(request) as response:
        return json.load(response)


def send_order(servers, registry, topic, **order):
    fields = {name: {"type": "integer"} for name in order}
    schema = {"type": "object", "properties": fields, "required": [*order]}
    body = {"schemaType": "JSON", "schema": json.dumps(schema)}
    url = f"{registry}/subjects/{topic}-value/versions"
    schema_id = ask_registry("POST", url, body)["id"]
    producer = Producer({"bootstrap.servers": servers})
    data = json.dumps(order).encode()
    producer.produce(topic, b"\0" + schema_id.to_bytes(4, "big") + data)
    producer.flush(10)


def test_orders_keep_the_field_that_is_read(
    kafka_cluster, kafka_topic, kafka_schema_registry
):
    place = kafka_cluster.bootstrap_servers, kafka_schema_registry, kafka_topic
    ask_registry("PUT", f"{kafka_schema_registry}/config/{kafka_topic}-value", RULE)
    send_order(*place, id=1, total=10)
    send_order(*place, id=2, total=20, discount=5)
    with pytest.raises(HTTPError, match="409"):
        send_order(*place, id=3)
    orders = [
        json.loads(each.value[5:]) for each in kafka_cluster.records(kafka_topic)
    ]
    assert [order["total"] for order in orders] == [10, 20]
