"""The suites of clients for C."""

from __future__ import annotations

from ..frameworks import Librdkafka
from ..sources import Crate
from ..suite import Suite

QUICK = (
    "0001 0003 0005 0008 0011 0012 0013 0015 0017 0018 0022 0026 0029 0030 0031 0036 0042 0044 0048 0050 0055 0059 0060 0061 0064 "
    "0065 0070 0081 0083 0084 0085 0090 0092 0094 0097 0099 0103 0127 0140"
)
"""The tests that need neither minutes nor Kafka's shell scripts."""

RUN = (
    'cd tests && printf "bootstrap.servers={bootstrap_servers}\\ntest.topic.random=true\\n" > test.conf && '
    "LD_LIBRARY_PATH=../src:../src-cpp ./test-runner -L -Q -E -p4"
)
"""Not the local tests, quickly, without emulated sockets, four at once."""

LIBRDKAFKA = Suite(
    name="librdkafka",
    version="2.12.1",
    covers="a quick list of tests of its test-runner",
    source=Crate("rdkafka-sys", "4.10.0+2.12.1", "librdkafka"),
    framework=Librdkafka(),
    needs=("bash", "make", "gcc", "g++"),
    prepare=(
        ("bash", "./configure", "--disable-gssapi", "--disable-curl"),
        ("make", "-j2", "libs"),
        ("make", "-C", "tests", "-j2", "test-runner"),
    ),
    command=("sh", "-c", RUN),
    environment={"TESTS": QUICK.replace(" ", ","), "TEST_KAFKA_VERSION": "4.3.0", "TEST_LEVEL": "1"},
    nodes=3,  # 0103 creates topics with three replicas
)

SUITES = (LIBRDKAFKA,)
