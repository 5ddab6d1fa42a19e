"""Apache Kafka's Java client: JavaClient.java in a JVM, with the jars that tests/apache_kafka.py downloads."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests import apache_kafka
from tests.clients.child import Child, ChildClient
from tests.clients.client import Unavailable

SOURCE = Path(__file__).with_name("JavaClient.java")


class Java(ChildClient):
    def __init__(self) -> None:
        missing = apache_kafka.missing()
        if missing is not None:
            raise Unavailable(f"{missing} is not installed")
        java = str(apache_kafka.java())
        if subprocess.run([java, "--describe-module", "jdk.compiler"], capture_output=True).returncode:
            raise Unavailable("this Java has no compiler")
        super().__init__(Child(apache_kafka.command(str(SOURCE))))
