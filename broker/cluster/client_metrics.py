"""Client telemetry: which requests for subscriptions and which pushes of metrics are accepted (KIP-714; Kafka's ClientMetricsManager).

The broker subscribes to no metrics, so every client receives an empty subscription. Metrics that a client pushes anyway are checked and
discarded. The state of a client instance is removed after three push intervals without a request. If there are more than MAX_INSTANCES, the
least recently used one is removed.
"""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError

PUSH_INTERVAL_MS = 300_000
EXPIRY_MS = 3 * PUSH_INTERVAL_MS
MAX_INSTANCES = 16_384
SUBSCRIPTION_CRC = 0xD4C75BDE
"""The CRC-32C of `[]300000`: the subscribed metrics, as Java prints an empty list, and the push interval."""
NEVER = -EXPIRY_MS
"""A time early enough that every interval that began then has passed."""


def subscription_id(client_instance_id: bytes) -> int:
    """Returns the id of a client's current subscription, a signed 32-bit integer, which each push must repeat."""
    words = (int.from_bytes(client_instance_id[at : at + 4], "big") for at in range(0, 16, 4))
    value = SUBSCRIPTION_CRC
    for word in words:
        value ^= word
    return value - (1 << 32) if value >> 31 else value


class _Instance:
    """The state of one client instance: the times of its last subscription, push and request, and the error of its last push."""

    __slots__ = ("error", "pushed_ms", "subscribed_ms", "terminating", "used_ms")

    def __init__(self) -> None:
        self.subscribed_ms = self.pushed_ms = self.used_ms = NEVER
        self.error = ErrorCode.NONE
        self.terminating = False


class ClientMetrics:
    """The client instances of one broker. `max_bytes` is the maximum size of a push."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._instances: dict[bytes, _Instance] = {}

    def subscribe(self, client_instance_id: bytes, now_ms: int) -> None:
        """Accepts a request for subscriptions. Raises KafkaError with THROTTLING_QUOTA_EXCEEDED within the push interval.

        A client whose last push failed because of a wrong subscription id or an unsupported compression type may request a new subscription
        at once.
        """
        instance = self._instance(client_instance_id, now_ms)
        if now_ms - max(instance.subscribed_ms, instance.pushed_ms) >= PUSH_INTERVAL_MS:
            instance.subscribed_ms = now_ms
        elif instance.error not in (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE):
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.error = ErrorCode.NONE

    def push(
        self, client_instance_id: bytes, subscription: int, compression_type: int, size: int, now_ms: int, *, terminating: bool
    ) -> None:
        """Accepts a push of `size` bytes.

        Raises KafkaError with INVALID_REQUEST, THROTTLING_QUOTA_EXCEEDED, UNKNOWN_SUBSCRIPTION_ID, UNSUPPORTED_COMPRESSION_TYPE or
        TELEMETRY_TOO_LARGE.
        """
        instance = self._instance(client_instance_id, now_ms)
        instance.error = _push_error(instance, now_ms, terminating)
        instance.terminating = terminating
        if not instance.error:
            instance.error = self._content_error(client_instance_id, subscription, compression_type, size)
        if instance.error:
            raise KafkaError(instance.error)

    def _content_error(self, client_instance_id: bytes, subscription: int, compression_type: int, size: int) -> ErrorCode:
        from ...protocol.compression import Compression  # imported on first use, because a start needs no compression

        if subscription != subscription_id(client_instance_id):
            return ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        if compression_type not in set(Compression):
            return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        return ErrorCode.TELEMETRY_TOO_LARGE if size > self.max_bytes else ErrorCode.NONE

    def _instance(self, client_instance_id: bytes, now_ms: int) -> _Instance:
        """Returns the state of a client instance, which is created if there is none. The dictionary is kept in the order of use."""
        instance = self._instances.pop(client_instance_id, None)
        if instance is None or now_ms - instance.used_ms >= EXPIRY_MS:
            instance = _Instance()
        instance.used_ms = now_ms
        self._instances[client_instance_id] = instance
        if len(self._instances) > MAX_INSTANCES:
            del self._instances[next(iter(self._instances))]
        return instance


def _push_error(instance: _Instance, now_ms: int, terminating: bool) -> ErrorCode:
    """Returns the error for a push that is too early or follows a terminating push, and otherwise NONE.

    The first push after a subscription is accepted at any time, because clients choose a random delay for it.
    """
    if instance.terminating:
        return ErrorCode.INVALID_REQUEST
    if instance.subscribed_ms > instance.pushed_ms or now_ms - instance.pushed_ms >= PUSH_INTERVAL_MS:
        instance.pushed_ms = now_ms
    elif not terminating:
        return ErrorCode.THROTTLING_QUOTA_EXCEEDED
    return ErrorCode.NONE
