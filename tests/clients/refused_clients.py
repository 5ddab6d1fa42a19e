"""Python clients that a broker refuses, in a process of their own, because they leave sockets open when they fail.

The arguments are the client, and as JSON the address of a SASL_SSL listener and the path of the CA's certificate. The output is JSON: for
each mechanism, the error and the log of a client with a wrong password, or with a token that has ended.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
from types import SimpleNamespace
from typing import Any

import aiokafka
import aiokafka.errors
import kafka
import kafka.errors

from tests.clients.secured import MECHANISMS, WRONG, Secured


def kafka_python(config: dict[str, Any]) -> None:
    kafka.KafkaProducer(**config, bootstrap_timeout_ms=1000)


def aiokafka_client(config: dict[str, Any]) -> None:
    async def start() -> None:
        await aiokafka.AIOKafkaProducer(**config).start()

    asyncio.run(start())


START = {"kafka-python": kafka_python, "aiokafka": aiokafka_client}


def refusal(client: str, config: dict[str, Any]) -> str:
    logged = io.StringIO()
    logging.basicConfig(stream=logged, force=True)
    try:
        START[client](config)
    except (kafka.errors.KafkaError, aiokafka.errors.KafkaError) as error:
        return f"{error}\n{logged.getvalue()}"
    return logged.getvalue()


def main() -> None:
    client, text = sys.argv[1:]
    arguments = json.loads(text)
    cluster: Any = Secured("", {"SASL_SSL": arguments["address"]}, SimpleNamespace(ca_file=arguments["ca_file"]))  # type: ignore[arg-type]
    refusals = {mechanism: refusal(client, cluster.config(client, "SASL_SSL", mechanism, WRONG, -60)) for mechanism in MECHANISMS}
    json.dump(refusals, sys.stdout)


if __name__ == "__main__":
    main()
