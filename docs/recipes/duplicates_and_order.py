"""Changes of prices arrive late and twice: several programs send them, and a consumer that crashes gets them again.

The test sends three versions of a price in every order and delivers all of them twice. It proves that the application ends with the newest
version of each price, and announces no version a second time.
"""

import asyncio
from itertools import permutations

from aiokafka import AIOKafkaConsumer

VERSIONS = [(f"product {number}", version) for number, order in enumerate(permutations([1, 2, 3])) for version in order]


def apply(change, prices, announce):
    """Stores and announces a version of a price, unless the same or a newer one is known."""
    product, version = change.key.decode(), int(change.value)
    if version > prices.get(product, 0):
        prices[product] = version
        announce((product, version))


async def apply_and_crash(bootstrap_servers, topic, *application):
    """Applies all changes and ends without a commit."""
    settings = {"group_id": topic, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    async with AIOKafkaConsumer(topic, bootstrap_servers=bootstrap_servers, **settings) as consumer:
        for _ in VERSIONS:
            apply(await asyncio.wait_for(consumer.getone(), timeout=10), *application)


def test_newest_price_remains_in_every_order(kafka_cluster, kafka_topic):
    prices, announced = {}, []
    kafka_cluster.produce(kafka_topic, [(product, str(version)) for product, version in VERSIONS])
    for _ in ("first delivery", "second delivery"):
        asyncio.run(apply_and_crash(kafka_cluster.bootstrap_servers, kafka_topic, prices, announced.append))
    assert prices == {product: 3 for product, _ in VERSIONS}
    assert len(announced) == len(set(announced))
