"""Clients that ask which of their metrics are wanted, and push them (KIP-714; Kafka's ClientMetricsManager).

There are no subscriptions to metrics: every client is told that none of its metrics is wanted, and what it pushes all the same is
checked and dropped. A client is forgotten when it was silent for three intervals, or when there are too many.
"""

from __future__ import annotations

from ...protocol.compression import Compression
from ...protocol.errors import ErrorCode, KafkaError

PUSH_INTERVAL_MS = 300_000
EXPIRY_MS = 3 * PUSH_INTERVAL_MS
MAX_INSTANCES = 16_384
SUBSCRIPTION_CRC = 0xD4C75BDE
"""The CRC-32C of `[]300000`: the metrics that are wanted, as Java writes an empty list, and the interval."""
NEVER = -EXPIRY_MS


def subscription_id(client_instance_id: bytes) -> int:
    """Returns the number by which a client shows in a push that it knows the present subscriptions: signed, 32 bits."""
    words = (int.from_bytes(client_instance_id[at : at + 4], "big") for at in range(0, 16, 4))
    value = SUBSCRIPTION_CRC
    for word in words:
        value ^= word
    return value - (1 << 32) if value >> 31 else value


class _Instance:
    """What is remembered of one client."""

    __slots__ = ("asked_ms", "error", "pushed_ms", "terminating", "used_ms")

    def __init__(self) -> None:
        self.asked_ms = self.pushed_ms = self.used_ms = NEVER
        self.error = ErrorCode.NONE
        self.terminating = False


class ClientMetrics:
    """The clients of one broker. `max_bytes` is the most that a client may push at once."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._instances: dict[bytes, _Instance] = {}

    def ask(self, client_instance_id: bytes, now_ms: int) -> None:
        """Notes that a client asks what is wanted. Raises THROTTLING_QUOTA_EXCEEDED if it asks too often."""
        instance = self._instance(client_instance_id, now_ms)
        if now_ms - max(instance.asked_ms, instance.pushed_ms) >= PUSH_INTERVAL_MS:
            instance.asked_ms = now_ms
        elif instance.error not in (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE):
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.error = ErrorCode.NONE

    def push(
        self, client_instance_id: bytes, subscription: int, compression_type: int, size: int, now_ms: int, *, terminating: bool
    ) -> None:
        """Notes a push of `size` bytes. Raises the KafkaError of a push that Kafka refuses."""
        instance = self._instance(client_instance_id, now_ms)
        instance.error = _push_error(instance, now_ms, terminating)
        instance.terminating = terminating
        if not instance.error:
            instance.error = self._content_error(client_instance_id, subscription, compression_type, size)
        if instance.error:
            raise KafkaError(instance.error)

    def _content_error(self, client_instance_id: bytes, subscription: int, compression_type: int, size: int) -> ErrorCode:
        if subscription != subscription_id(client_instance_id):
            return ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        if compression_type not in set(Compression):
            return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        return ErrorCode.TELEMETRY_TOO_LARGE if size > self.max_bytes else ErrorCode.NONE

    def _instance(self, client_instance_id: bytes, now_ms: int) -> _Instance:
        """The client, as the one that was used last; the dictionary is in the order of use."""
        instance = self._instances.pop(client_instance_id, None)
        if instance is None or now_ms - instance.used_ms >= EXPIRY_MS:
            instance = _Instance()
        instance.used_ms = now_ms
        self._instances[client_instance_id] = instance
        if len(self._instances) > MAX_INSTANCES:
            del self._instances[next(iter(self._instances))]
        return instance


def _push_error(instance: _Instance, now_ms: int, terminating: bool) -> ErrorCode:
    """The first push after a question may come at once, because clients spread their pushes."""
    if instance.terminating:
        return ErrorCode.INVALID_REQUEST
    if instance.asked_ms > instance.pushed_ms or now_ms - instance.pushed_ms >= PUSH_INTERVAL_MS:
        instance.pushed_ms = now_ms
    elif not terminating:
        return ErrorCode.THROTTLING_QUOTA_EXCEEDED
    return ErrorCode.NONE
