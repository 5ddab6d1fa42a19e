"""Calls librdkafka, the library inside confluent-kafka's wheel, with arrays of messages.

A Python loop over messages would be slower than the broker. In a bulk run no Python code runs per message: `produce_batch` takes an
array, and the callback of the consumer is a C function without effect.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Self

from confluent_kafka import cimpl

# Resolves symbols of the librdkafka that the extension module is linked to, wherever that file is.
_lib: Any = ctypes.CDLL(cimpl.__file__)

PRODUCER, CONSUMER = 0, 1
COPY, BLOCK = 2, 4
BEGINNING, END = -2, -1
DELIVERY_REPORTS = 1
BATCH = 10_000
TIMEOUT_MS = 60_000
NO_SETTINGS: Mapping[str, object] = MappingProxyType({})


class Message(ctypes.Structure):
    _fields_ = (
        ("err", ctypes.c_int),
        ("topic", ctypes.c_void_p),
        ("partition", ctypes.c_int32),
        ("payload", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("key", ctypes.c_void_p),
        ("key_length", ctypes.c_size_t),
        ("offset", ctypes.c_int64),
        ("private", ctypes.c_void_p),
    )


def _declare() -> None:
    pointer, message = ctypes.c_void_p, ctypes.POINTER(Message)
    for name, result, *arguments in (
        ("conf_new", pointer),
        ("conf_set", ctypes.c_int, pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t),
        ("conf_set_events", None, pointer, ctypes.c_int),
        ("new", pointer, ctypes.c_int, pointer, ctypes.c_char_p, ctypes.c_size_t),
        ("destroy", None, pointer),
        ("topic_new", pointer, pointer, ctypes.c_char_p, pointer),
        ("topic_destroy", None, pointer),
        ("queue_new", pointer, pointer),
        ("queue_get_main", pointer, pointer),
        ("queue_destroy", None, pointer),
        ("queue_poll", pointer, pointer, ctypes.c_int),
        ("event_message_next", message, pointer),
        ("event_destroy", None, pointer),
        ("flush", ctypes.c_int, pointer, ctypes.c_int),
        ("produce", ctypes.c_int, pointer, ctypes.c_int32, ctypes.c_int, pointer, ctypes.c_size_t, pointer, ctypes.c_size_t, pointer),
        ("produce_batch", ctypes.c_int, pointer, ctypes.c_int32, ctypes.c_int, message, ctypes.c_int),
        ("consume_start_queue", ctypes.c_int, pointer, ctypes.c_int32, ctypes.c_int64, pointer),
        ("consume_stop", ctypes.c_int, pointer, ctypes.c_int32),
        ("consume_queue", message, pointer, ctypes.c_int),
        ("consume_callback_queue", ctypes.c_int, pointer, ctypes.c_int, pointer, pointer),
        ("message_destroy", None, message),
        ("query_watermark_offsets", ctypes.c_int, pointer, ctypes.c_char_p, ctypes.c_int32, pointer, pointer, ctypes.c_int),
        ("err2str", ctypes.c_char_p, ctypes.c_int),
    ):
        function = getattr(_lib, f"rd_kafka_{name}")
        function.restype, function.argtypes = result, arguments


_declare()
_IGNORE = ctypes.cast(_lib.rd_kafka_version, ctypes.c_void_p)  # has no effect, so it can be the callback of every message


class KafkaFailure(Exception):
    """An error of the client or the broker, or a response that did not arrive in time."""


def _check(code: int) -> None:
    if code:
        raise KafkaFailure(_lib.rd_kafka_err2str(code).decode())


class Client:
    """One producer or consumer of partition 0 of one topic; a context manager."""

    kind: int
    events = 0

    def __init__(self, bootstrap_servers: str, topic: str, settings: Mapping[str, object]) -> None:
        text = ctypes.create_string_buffer(512)
        conf = _lib.rd_kafka_conf_new()
        for name, value in {"bootstrap.servers": bootstrap_servers, "log_level": 5, **settings}.items():
            if _lib.rd_kafka_conf_set(conf, name.encode(), str(value).encode(), text, 512):
                raise KafkaFailure(text.value.decode())
        _lib.rd_kafka_conf_set_events(conf, self.events)
        self._client = _lib.rd_kafka_new(self.kind, conf, text, 512)
        if not self._client:
            raise KafkaFailure(text.value.decode())
        self._name = topic.encode()
        self._topic = _lib.rd_kafka_topic_new(self._client, self._name, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        _lib.rd_kafka_topic_destroy(self._topic)
        _lib.rd_kafka_destroy(self._client)


class BulkProducer(Client):
    """Sends as fast as possible with the client's default batching. `end_offset` is used to check delivery."""

    kind = PRODUCER

    def __init__(self, bootstrap_servers: str, topic: str, size: int, settings: Mapping[str, object] = NO_SETTINGS) -> None:
        super().__init__(bootstrap_servers, topic, {"acks": 1, **settings})
        self._payload = ctypes.create_string_buffer(size)
        self._messages = (Message * BATCH)()
        self._size = size
        self.send(1)  # connects and finds the leader

    def send(self, count: int) -> float:
        """Sends `count` messages; returns the seconds until all are acknowledged."""
        payload = ctypes.addressof(self._payload)
        for message in self._messages[: min(count, BATCH)]:
            message.payload, message.length = payload, self._size
        began = time.perf_counter()
        for sent in range(0, count, BATCH):
            wanted = min(BATCH, count - sent)
            if _lib.rd_kafka_produce_batch(self._topic, 0, BLOCK, self._messages, wanted) != wanted:
                raise KafkaFailure("the producer's queue refused messages")
        _check(_lib.rd_kafka_flush(self._client, TIMEOUT_MS))
        return time.perf_counter() - began

    def end_offset(self) -> int:
        """Returns the high watermark of the partition."""
        low, high = ctypes.c_int64(), ctypes.c_int64()
        query = _lib.rd_kafka_query_watermark_offsets
        _check(query(self._client, self._name, 0, ctypes.byref(low), ctypes.byref(high), TIMEOUT_MS))
        return high.value


class SingleProducer(Client):
    """Sends single messages without delay."""

    kind = PRODUCER
    events = DELIVERY_REPORTS

    def __init__(self, bootstrap_servers: str, topic: str, size: int, settings: Mapping[str, object] = NO_SETTINGS) -> None:
        super().__init__(bootstrap_servers, topic, {"acks": 1, "linger.ms": 0, **settings})
        self._reports = _lib.rd_kafka_queue_get_main(self._client)
        self._payload = ctypes.create_string_buffer(size)
        self._size = size

    def send(self) -> None:
        """Passes one message to the client."""
        _lib.rd_kafka_produce(self._topic, 0, 0, self._payload, self._size, None, 0, None)

    def wait(self) -> None:
        """Returns when the message is acknowledged."""
        event = _lib.rd_kafka_queue_poll(self._reports, TIMEOUT_MS)
        if not event:
            raise KafkaFailure("no acknowledgement")
        code = _lib.rd_kafka_event_message_next(event).contents.err
        _lib.rd_kafka_event_destroy(event)
        _check(code)

    def close(self) -> None:
        _lib.rd_kafka_queue_destroy(self._reports)
        super().close()


class Reader(Client):
    """Reads the partition from `offset` on without a consumer group."""

    kind = CONSUMER

    def __init__(self, bootstrap_servers: str, topic: str, offset: int, settings: Mapping[str, object] = NO_SETTINGS) -> None:
        # With its default queue limits the client would pause for a second whenever it has fetched ahead.
        unlimited = {"fetch.queue.backoff.ms": 0, "queued.min.messages": 10_000_000, "queued.max.messages.kbytes": 2_000_000}
        super().__init__(bootstrap_servers, topic, {**unlimited, **settings})
        self._queue = _lib.rd_kafka_queue_new(self._client)
        _lib.rd_kafka_consume_start_queue(self._topic, 0, offset, self._queue)
        self._read_ahead = 0

    def one(self, timeout_ms: int = TIMEOUT_MS) -> int:
        """Waits for a message and returns its length in bytes."""
        message = _lib.rd_kafka_consume_queue(self._queue, timeout_ms)
        if not message:
            raise KafkaFailure("no message")
        code, length = message.contents.err, int(message.contents.length)
        _lib.rd_kafka_message_destroy(message)
        _check(code)
        return length

    def many(self, count: int) -> float:
        """Reads `count` messages; returns the seconds that this took. librdkafka may return more, which count towards the next call."""
        began = time.perf_counter()
        while count > self._read_ahead:
            read = _lib.rd_kafka_consume_callback_queue(self._queue, TIMEOUT_MS, _IGNORE, None)
            if read <= 0:
                raise KafkaFailure("no message")
            self._read_ahead += read
        self._read_ahead -= count
        return time.perf_counter() - began

    def close(self) -> None:
        _lib.rd_kafka_consume_stop(self._topic, 0)
        _lib.rd_kafka_queue_destroy(self._queue)
        super().close()
