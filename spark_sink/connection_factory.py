"""Opens connections, and logs a warning early when that fails: otherwise a wrong address causes no output until the timeout."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np

from ..protocol.client.connection import ClientConnection
from ..protocol.client.line import Address, LoginFailed
from ..protocol.client.settings import ClientSecurity
from ..protocol.errors import ErrorCode, KafkaError

REPORT_AFTER_S = 2.0
logger = logging.getLogger("odradek.spark_sink")


class Alarm(Protocol):
    """The methods of `threading.Timer` that are used."""

    def start(self) -> None:
        """Starts waiting."""

    def cancel(self) -> None:
        """Stops waiting."""


def _timer(seconds: float, function: Callable[[], None]) -> Alarm:
    timer = threading.Timer(seconds, function)
    timer.daemon = True
    return timer


class ConnectionFactory:
    """Connects to brokers. After two seconds without a connection, it logs once which addresses have been tried."""

    def __init__(
        self,
        bootstrap_servers: Iterable[Address],
        client_id: str,
        timeout_ms: int,
        new_alarm: Callable[[float, Callable[[], None]], Alarm] = _timer,
        security: ClientSecurity | None = None,
    ) -> None:
        """`new_alarm` creates an alarm from a number of seconds and the function to call after them."""
        self._bootstrap_servers = tuple(bootstrap_servers)
        self._client_id, self._timeout_ms, self._new_alarm = client_id, timeout_ms, new_alarm
        self._security = security
        self._alarm: Alarm | None = None
        self._tried: dict[Address, str] = {}

    def connect(self, address: Address) -> ClientConnection:
        """Returns a new connection. Raises OSError, KafkaError; the alarm then stays set for the attempts that follow.

        If one of both sides does not trust the other, that is KafkaError with SASL_AUTHENTICATION_FAILED, which is not retriable.
        """
        self._tried[address] = "no response yet"
        if self._alarm is None:
            self._alarm = self._new_alarm(REPORT_AFTER_S, self._report)
            self._alarm.start()
        try:
            connection = self._open(address)
        except (OSError, KafkaError) as error:
            self._tried[address] = str(error)
            raise
        self.stop_waiting()
        return connection

    def _open(self, address: Address) -> ClientConnection:
        try:
            return ClientConnection(address, self._client_id, self._timeout_ms / 1000, self._security, new_buffer=_new_buffer)
        except ssl.SSLCertVerificationError as error:
            problem = f"the certificate of {_text(address)} is not accepted: {error.verify_message}"
            raise KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, problem) from None
        except LoginFailed as error:
            raise KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, str(error)) from None

    def stop_waiting(self) -> None:
        """Cancels the alarm, because there is a connection or no further attempt is made."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = None
        self._tried.clear()

    def _report(self) -> None:
        logger.warning(
            "No connection to a Kafka broker for %g s. Tried from %s: %s. kafka.bootstrap.servers is %s; after that, clients connect to "
            "the addresses that the brokers advertise. Attempts continue until the time-out: kafka.default.api.timeout.ms in the driver, "
            "kafkaConsumer.pollTimeoutMs in a task that reads, kafka.max.block.ms in a task that writes.",
            REPORT_AFTER_S,
            socket.gethostname(),
            ", ".join(f"{_text(address)} ({outcome})" for address, outcome in self._tried.copy().items()),
            ",".join(map(_text, self._bootstrap_servers)),
        )


def _text(address: Address) -> str:
    return "{}:{}".format(*address)


def _new_buffer(size: int) -> memoryview:
    """Returns a buffer that, unlike a bytearray, is not filled with zeros first."""
    return np.empty(size, np.uint8).data
