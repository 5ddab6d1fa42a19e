"""The recipes of docs/recipes without their explicit faults, which exploration has to find by itself."""

from __future__ import annotations

from tests.recipes.recipes import text

# For each recipe, its explicit fault, and what is left of the test without it.
WITHOUT_FAULTS = {
    "broker_down.py": [
        (
            """            leader = partition().leader
            (follower,) = {1, 2} - {leader}
            cluster.lag("orders", 0, follower)
            sending = await producer.send("orders", b"order 2")
            await asyncio.to_thread(cluster.wait_until, second_order_is_stored)
            cluster.stop_node(leader, graceful=False)
            cluster.clock.advance("9s")  # broker.session.timeout.ms: a new leader
            await asyncio.wait_for(sending, timeout=30)
""",
            '            await producer.send_and_wait("orders", b"order 2")\n            await asyncio.to_thread(second_order_is_stored)\n',
        )
    ],
    "lost_acks.py": [("        lost = kafka_faults.lost_acks(kafka_topic)\n", ""), ("        lost.wait(hits=1)\n", "")],
}


def recipe_of(name: str, *, correct: bool) -> str:
    """Returns a recipe without its fault, correct or with its mistake. Raises ValueError if it does not contain its fault once."""
    recipe = text(name, protected=correct)
    for fault, rest in WITHOUT_FAULTS[name]:
        if recipe.count(fault) != 1:
            raise ValueError(f"{name} must contain {fault!r} once")
        recipe = recipe.replace(fault, rest)
    return recipe
