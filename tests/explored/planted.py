"""Small services with one planted mistake each. A file in small-services/ is the correct twin; the mistake replaces a part of it."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "small-services"

# For each service, the part that protects it, and the mistake in its place.
MISTAKES = {
    "Shop.java": ('"enable.idempotence", true', '"enable.idempotence", false'),
    "shop.go": ("kgo.SeedBrokers(servers...)", "kgo.SeedBrokers(servers...), kgo.DisableIdempotentWrite()"),
    "commit_before_work.py": (
        '            write_bill(servers, f"{topic}.bills", order.value())\n            consumer.commit(order, asynchronous=False)\n',
        '            consumer.commit(order, asynchronous=False)\n            write_bill(servers, f"{topic}.bills", order.value())\n',
    ),
    "work_twice.py": ("        if record.offset not in self.booked:", "        if True:"),
    "no_idempotence.py": ("enable_idempotence=True", "enable_idempotence=False"),
    "result_ignored.py": ("return producer.send(topic, value).get(timeout=10)", "return producer.send(topic, value)"),
    "transaction_not_aborted.py": (
        "            if error.args[0].txn_requires_abort():\n                producer.abort_transaction(10)\n            continue\n",
        "            print(error)\n",
    ),
    "offsets_in_memory.py": ("            read.pop(partition.partition, None)\n", "            read.get(partition.partition)\n"),
    "poison_skipped.py": (
        'producer.send(f"{topic}.dead", record.value).get(timeout=10)',
        'producer.send(f"{topic}.dead", record.value)',
    ),
    "stops_on_error.py": (
        "                except KafkaError:\n                    continue\n",
        "                except KafkaError:\n                    return\n",
    ),
    "exists_already.py": ("    is_created(admin, topic)\n    entry", "    if not is_created(admin, topic):\n        return\n    entry"),
    "latest_of_new_partition.py": ('"auto_offset_reset": "earliest"', '"auto_offset_reset": "latest"'),
    "auto_commit.py": ('"enable.auto.offset.store": False', '"enable.auto.offset.store": True'),
    "own_offsets.py": (
        '            receipt = await producer.send_and_wait(f"{topic}.receipts", record.value)\n',
        "            database.next_offset = record.offset + 1\n"
        '            receipt = await producer.send_and_wait(f"{topic}.receipts", record.value)\n',
    ),
    "offsets_outside.py": (
        "            producer.send_offsets_to_transaction(following, consumer.consumer_group_metadata(), 10)\n"
        "            producer.commit_transaction(10)\n",
        "            producer.commit_transaction(10)\n            consumer.commit(offsets=following, asynchronous=False)\n",
    ),
    "no_rewind.py": ("consumer.seek(TopicPartition(record.topic, record.partition), record.offset)", "continue"),
    "accepted_before_work.py": ("AcknowledgeType.ACCEPT if success else AcknowledgeType.RELEASE", "AcknowledgeType.ACCEPT"),
}


def text_of(name: str, *, correct: bool) -> str:
    """Returns a service, or one with its mistake. Raises ValueError if the service does not contain the protected part once."""
    service = (FOLDER / name).read_text()
    protection, mistake = MISTAKES[name]
    if service.count(protection) != 1:
        raise ValueError(f"{name} must contain {protection!r} once")
    return service if correct else service.replace(protection, mistake)
