"""Changes of prices arrive late and twice.

Several programs send them, and a consumer that crashes gets them again. The test
sends three versions of a price in every order and delivers all of them twice. It
proves that the application ends with the newest version of each price, and
announces no version a second time.
"""

import asyncio
from itertools import permutations

from aiokafka import AIOKafkaConsumer

VERSIONS = [
    (f"product {number}", version)
    for number, order in enumerate(permutations([1, 2, 3]))
    for version in order
]


def apply(change, prices, announce):
    """Stores and announces a version of a price, unless it is old or known."""
    product, version = change.key.decode(), int(change.value)
    if version > prices.get(product, 0):
        prices[product] = version
        announce((product, version))


async def apply_and_crash(servers, topic, *application):
    """Applies all changes and ends without a commit."""
    group = {"group_id": topic, "auto_offset_reset": "earliest"}
    group["enable_auto_commit"] = False
    reader = AIOKafkaConsumer(topic, bootstrap_servers=servers, **group)
    async with reader as consumer:
        for _ in VERSIONS:
            change = await asyncio.wait_for(consumer.getone(), timeout=10)
            apply(change, *application)


def test_newest_price_remains_in_every_order(kafka_cluster, kafka_topic):
    prices, announced = {}, []
    application = prices, announced.append
    changes = [(product, str(version)) for product, version in VERSIONS]
    kafka_cluster.produce(kafka_topic, changes)
    for _ in ("first delivery", "second delivery"):
        servers = kafka_cluster.bootstrap_servers
        asyncio.run(apply_and_crash(servers, kafka_topic, *application))
    assert prices == {product: 3 for product, _ in VERSIONS}
    assert len(announced) == len(set(announced))
