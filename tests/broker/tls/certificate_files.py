"""Certificates of the tests, made once, and the settings of listeners that use them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from odradek.broker.settings.values import BrokerConfig, ListenerSettings
from odradek.broker.tls.authority import Authority, Certificate

PASSWORD = "stores-pass"
PREFIX = "listener.name.ssl."


def authority(name: str = "first") -> Authority:
    """Returns a CA; each name stands for another one."""
    return _authority(name)


@cache
def _authority(name: str) -> Authority:
    return Authority(datetime.now(UTC))


@cache
def certificate(common_name: str = "localhost", addresses: tuple[str, ...] = ("localhost", "127.0.0.1"), ca: str = "first") -> Certificate:
    return authority(ca).issue(common_name, addresses)


def inline(issued: Certificate) -> dict[str, str]:
    """Returns the settings of a key store whose PEM is in the settings."""
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": issued.chain.decode(),
        "ssl.keystore.key": issued.key.decode(),
    }


def trusting(ca: Authority) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": ca.pem.decode()}


def settings_of(values: dict[str, str]) -> ListenerSettings:
    return ListenerSettings(BrokerConfig(values), "SSL")


def prefixed(values: dict[str, str]) -> dict[str, str]:
    return {PREFIX + name: value for name, value in values.items()}


def written(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)
