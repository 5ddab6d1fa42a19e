"""A Quix Streams application that adds up the amounts of each account. test_quix_streams.py runs it in a virtual environment of its own."""

from __future__ import annotations

import os
import sys
from typing import Any

from quixstreams import Application

app = Application(
    broker_address=os.environ["BOOTSTRAP_SERVERS"],
    consumer_group="balances",
    state_dir=sys.argv[1],  # empty at first, so that the state is read from its changelog topic
    auto_offset_reset="earliest",
    processing_guarantee="exactly-once",
    commit_interval=0.2,
)
payments = app.topic("payments", key_deserializer="str", value_deserializer="json")
balances = app.topic("balances", key_serializer="str", value_serializer="json")


def add(payment: dict[str, int], state: Any) -> dict[str, int]:
    balance = state.get("balance", 0) + payment["amount"]
    state.set("balance", balance)
    return {"balance": balance}


app.dataframe(payments).apply(add, stateful=True).to_topic(balances)

if __name__ == "__main__":
    app.run()
