"""server.properties and KAFKA_* are read as Kafka's images read them."""

from __future__ import annotations

import pytest

from odradek.broker.properties import from_environment, parse_properties


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=1\nb = 2\nc:3\nd 4\ne\t:\t5", {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}),
        ("# no\n  ! no\n\n   \na=1", {"a": "1"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("listeners=A://h:1,\\\n    B://h:2\nb=2", {"listeners": "A://h:1,B://h:2", "b": "2"}),
        ("a=one\\\n# two", {"a": "one# two"}),
        ("a=C:\\\\\nb=2", {"a": "C:\\", "b": "2"}),
        ("a=1\\", {"a": "1"}),
        ("a\\=b=c\\td\\u0041\\q", {"a=b": "c\tdAq"}),
        ("a==b", {"a": "=b"}),
        ("a=\nb", {"a": "", "b": ""}),
        ("a=1\na=2", {"a": "2"}),
        ("a=x y ", {"a": "x y "}),
        ("", {}),
    ],
)
def test_parse_properties(text: str, pairs: dict[str, str]) -> None:
    assert parse_properties(text) == pairs


def test_from_environment() -> None:
    environ = {
        "KAFKA_BROKER_ID": "1",
        "KAFKA_LISTENER_NAME_A__B_SSL_KEY": "x",
        "KAFKA_FOO___BAR": "y",
        "KAFKA_HEAP_OPTS": "-Xmx1g",
        "KAFKA_OPTS": "-Dx",
        "KAFKA_JVM_PERFORMANCE_OPTS": "-server",
        "KAFKA_LOG4J_LOGGERS": "kafka=WARN",
        "KAFKA_LOG4J_ROOT_LOGLEVEL": "WARN",
        "KAFKA_JMX_PORT": "9101",
        "KAFKA_": "nothing",
        "CLUSTER_ID": "abc",
        "PATH": "/bin",
    }
    assert from_environment(environ) == {"broker.id": "1", "listener.name.a_b.ssl.key": "x", "foo-bar": "y"}
