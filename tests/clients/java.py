"""Apache Kafka's Java client: JavaClient.java in a JVM, with the jars that tests/apache_kafka.py downloads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests import apache_kafka
from tests.clients.child import Child, ChildClient
from tests.clients.client import Unavailable

SOURCE = Path(__file__).with_name("JavaClient.java")


BESIDES = "jackson-"
"""The library of the program itself, which an older kafka-clients does not bring."""


class Java(ChildClient):
    def __init__(self, version: str | None = None) -> None:
        """Uses the client of the broker's version, or kafka-clients of another version."""
        missing = apache_kafka.missing()
        if missing is not None:
            raise Unavailable(f"{missing} is not installed")
        java = str(apache_kafka.java())
        if subprocess.run([java, "--describe-module", "jdk.compiler"], capture_output=True).returncode:
            raise Unavailable("this Java has no compiler")
        super().__init__(Child(apache_kafka.command(str(SOURCE)) if version is None else _older(java, version)))


def _older(java: str, version: str) -> list[str]:
    """Returns the command with the client of another version, which Maven fetches on first use. Raises Unavailable without Maven."""
    try:
        own = sorted(apache_kafka.jars(apache_kafka.CLIENTS, version).glob("*.jar"))
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"Maven cannot fetch kafka-clients {version}: {error}") from None
    besides = [jar for jar in sorted(apache_kafka.jars().glob("*.jar")) if jar.name.startswith(BESIDES)]
    return [java, *apache_kafka.JVM, "-cp", os.pathsep.join(map(str, [*own, *besides])), str(SOURCE)]
