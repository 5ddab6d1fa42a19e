"""The recipes in docs/recipes, and what each of them would be without the protection that it is about."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

FOLDER = Path(__file__).parents[2] / "docs/recipes"
SPARK = "spark_streaming"
IN_PYTHON = (
    "broker_down",
    "consumer_crash",
    "duplicates_and_order",
    "exactly_once",
    "incompatible_schema",
    "lost_acks",
    "offset_reset",
    "poison_message",
    "rebalance",
    "retention_expiry",
    "secured_client",
    "slow_broker",
    SPARK,
    "unknown_fault",
)
IN_JAVA_AND_GO = ("broker_down", "consumer_crash", "lost_acks")

# For each recipe, a part of its application, and what replaces it in an application that makes the mistake.
PROTECTIONS = {
    "broker_down.py": ('"acks": "all", "enable_idempotence": True', '"acks": 1'),
    "broker_down.java": ('"acks", "all"', '"acks", "1"'),
    "broker_down.go": ("Brokers()...)", "Brokers()...), kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck())"),
    "consumer_crash.py": (
        "    charge(order.value())\n    consumer.commit(order, asynchronous=False)\n",
        "    consumer.commit(order, asynchronous=False)\n    charge(order.value())\n",
    ),
    "consumer_crash.java": (
        "card.accept(orders.next().value());",
        "var order = orders.next(); consumer.commitSync(); card.accept(order.value());",
    ),
    "consumer_crash.go": ("} else if !crashes {", "} else if crashes = true; crashes {"),
    "duplicates_and_order.py": ("if version > prices.get(product, 0):", "if version >= prices.get(product, 0):"),
    "exactly_once.py": ("transactional_id=orders,", "transactional_id=client_id,"),
    "incompatible_schema.py": ('"compatibility": "FORWARD"', '"compatibility": "BACKWARD"'),
    "lost_acks.py": ('"enable.idempotence": True', '"enable.idempotence": False'),
    "lost_acks.java": ('"enable.idempotence", true', '"enable.idempotence", false'),
    "lost_acks.go": ("Brokers()...)", "Brokers()...), kgo.DisableIdempotentWrite()"),
    "offset_reset.py": ('"auto_offset_reset": policy', '"auto_offset_reset": "earliest"'),
    "poison_message.py": ("sent.get(timeout=10)", "sent.is_done"),
    "rebalance.py": (", on_revoke=commit_finished", ""),
    "retention_expiry.py": ("order.offset - committed", "0"),
    "secured_client.py": ('"log_level": 0', '"log_level": 0, "enable.ssl.certificate.verification": False'),
    "slow_broker.py": ('"request_timeout_ms": 500', '"request_timeout_ms": 3000'),
    "spark_streaming.py": (
        '"checkpointLocation": checkpoint',
        '"checkpointLocation": f"{checkpoint}/{__import__(\'time\').monotonic_ns()}"',
    ),
    "unknown_fault.py": ('"enable_idempotence": True', '"enable_idempotence": False'),
}


def text(name: str, protected: bool) -> str:
    """Returns a recipe as it is, or without its protection. Raises ValueError if the recipe does not contain it once."""
    recipe = (FOLDER / name).read_text()
    protection, mistake = PROTECTIONS[name]
    if recipe.count(protection) != 1:
        raise ValueError(f"{name} must contain {protection!r} once")
    return recipe if protected else recipe.replace(protection, mistake)


def failures(report: Path) -> dict[str, str]:
    """Returns the text of the failures in a JUnit report by the name of the test class; an empty text for a class that has passed."""
    found: dict[str, str] = defaultdict(str)
    for case in ElementTree.parse(report).iter("testcase"):
        broken = [part for kind in ("failure", "error", "skipped") for part in case.iter(kind)]
        found[case.attrib["classname"]] += "\n".join(part.text or part.attrib.get("message", "") for part in broken)
    return dict(found)
