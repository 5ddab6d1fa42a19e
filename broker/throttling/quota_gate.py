"""The gate of a cluster with client quotas: measures the requests of limited clients and throttles them (KIP-219).

A throttled client gets its response at once, with the throttle time in it, and its next request is served that much later. Each node
measures by itself, except for changes of topics, which Kafka counts at the controller. Clients without quotas are not measured at all, and
without any quota the cluster has no such gate.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from ...protocol.errors import KafkaError
from ...protocol.messages.produce import PRODUCE, ProduceRequest
from ...protocol.messages.write_txn_markers import WRITE_TXN_MARKERS
from ...protocol.schema import Message, specs
from ..api.context import Client, Context
from ..api.failure import failure
from ..api.gate import Answering, Asked, Channel, Gate, Sparing
from ..cluster.broker import Broker
from .rates import QuotaWindow
from .request_quotas import ClientLimits, LimitedRate, LimitedTokens, RequestQuotas

if TYPE_CHECKING:
    from ..cluster.state import ClusterState

PURGE_AT_LEAST = 1000
IDLE_MS = 3_600_000
"""The time after which the measurements of a silent client are removed (Kafka's InactiveSensorExpirationTimeSeconds)."""
ANY_NODE = -1

Shared = tuple[int, str, tuple[str, str]]
"""A node id (or ANY_NODE), the name of a quota, and the part of (user, client id) that shares it."""
M = TypeVar("M", LimitedRate, LimitedTokens)


class QuotaGate:
    """The measurements of all limited clients. `inner` is the gate behind this one, if there is one."""

    def __init__(self, cluster: ClusterState, clock: Callable[[], float]) -> None:
        self._cluster = cluster
        self._clock = clock
        self.inner: Gate | None = None
        self._measured: dict[Shared, LimitedRate | LimitedTokens] = {}
        self._purge_at = PURGE_AT_LEAST
        self._limits: dict[tuple[int, str, str], ClientLimits] = {}
        """(node id, user, client id) -> limits, until quotas change."""
        self._state = object()
        self._inner_state: object = None
        cluster.quotas.on_change.append(self._quotas_changed)

    # The gate

    @property
    def state(self) -> object:
        """An object that is replaced when quotas or the gate behind this one change."""
        inner = None if self.inner is None else self.inner.state
        if inner is not self._inner_state:
            self._inner_state, self._state = inner, object()
        return self._state

    def _quotas_changed(self) -> None:
        self._limits.clear()
        self._state = object()

    def serve(self, asked: Asked) -> Message | Answering | None:
        """Serves a request, and throttles its client if it exceeds a quota."""
        context, channel = asked.context, asked.channel
        limits = self._limits_of(context.client, context.broker)
        if limits:
            quotas = context.quotas = RequestQuotas(limits, len(context.frame), self._clock, self._cluster.timers)
            asked = asked._replace(rule=partial(_serve_throttled, asked, quotas))
        if self.inner is not None:
            return self.inner.serve(asked)
        if not limits and channel.sparing.state is not self.state:
            channel.forget_shortcut()  # it may contain requests of clients that have quotas now
            context.shortcut = None
            channel.sparing = Sparing(self.state)
        return asked.rule(asked.request, context)

    def opened(self, channel: Channel, broker: Broker) -> None:
        """Called for each new connection. Raises CloseConnection if the gate behind this one refuses it."""
        if self.inner is not None:
            self.inner.opened(channel, broker)

    def closed(self, channel: Channel) -> None:
        """Called for each connection that ends."""
        if self.inner is not None:
            self.inner.closed(channel)

    def refuses(self, broker: Broker, listener_name: str) -> bool:
        """Returns whether the gate behind this one keeps a listener from listening."""
        return self.inner is not None and self.inner.refuses(broker, listener_name)

    # The limits of clients

    def _limits_of(self, client: Client, broker: Broker) -> ClientLimits:
        key = (broker.node_id, client.principal.partition(":")[2], client.client_id)
        limits = self._limits.get(key)
        if limits is None:
            if len(self._limits) >= self._purge_at:
                self._purge()
            limits = self._limits[key] = self._new_limits(*key, broker)
        return limits

    def _new_limits(self, node_id: int, user: str, client_id: str, broker: Broker) -> ClientLimits:
        integers = broker.config.integers
        window = QuotaWindow(integers["quota.window.num"], integers["quota.window.size.seconds"] * 1000)
        changes = QuotaWindow(integers["controller.quota.window.num"], integers["controller.quota.window.size.seconds"] * 1000)
        quotas = self._cluster.quotas

        def limit_of(node_id: int, key: str, new: Callable[[float], M]) -> M | None:
            applying = quotas.applying(key, user, client_id)
            if applying is None:
                return None
            measured = self._measured.setdefault((node_id, key, applying.shared_by), new(applying.limit))
            measured.limit = applying.limit
            return cast(M, measured)

        return ClientLimits(
            limit_of(node_id, "producer_byte_rate", partial(LimitedRate, window)),
            limit_of(node_id, "consumer_byte_rate", partial(LimitedRate, window)),
            limit_of(node_id, "request_percentage", partial(LimitedRate, window, longest_ms=window.window_ms)),
            limit_of(ANY_NODE, "controller_mutation_rate", partial(LimitedTokens, changes)),
        )

    def _purge(self) -> None:
        """Removes measurements of clients that have been silent, because clients choose their ids, of which there may be any number."""
        oldest_ms = self._cluster.timers.now_ms - IDLE_MS
        self._limits.clear()
        self._measured = {shared: each for shared, each in self._measured.items() if each.used_ms > oldest_ms}
        self._purge_at = max(PURGE_AT_LEAST, 2 * len(self._measured))


def _serve_throttled(asked: Asked, quotas: RequestQuotas, request: Message, context: Context) -> Message | Answering | None:
    """Serves a request by its handler, measures it, and throttles the client."""
    stored, context.shortcut = context.shortcut, None  # the handler must not store a request that has to be measured
    try:
        answer = asked.rule(request, context)
    except KafkaError as error:
        answer = failure(asked.header.api, request, error.code, error.message)
    finally:
        context.shortcut = stored
    return _measure_later(asked, quotas, answer) if isinstance(answer, Generator) else _finish(asked, quotas, answer)


def _measure_later(asked: Asked, quotas: RequestQuotas, answering: Answering) -> Answering:
    """Does the same for a handler that waits. The time that it waits is not counted."""
    try:
        while True:
            quotas.resume()
            wait = next(answering)
            quotas.pause()
            yield wait
    except StopIteration as done:
        return _finish(asked, quotas, done.value)
    except KafkaError as error:
        return _finish(asked, quotas, failure(asked.header.api, asked.request, error.code, error.message))
    finally:
        answering.close()


def _finish(asked: Asked, quotas: RequestQuotas, response: Message | None) -> Message | None:
    """Returns the response with its throttle time, and mutes the client for that time."""
    api, request = asked.header.api, asked.request
    if api is PRODUCE:
        quotas.record_produce()
    if api is not WRITE_TXN_MARKERS and not (isinstance(request, ProduceRequest) and request.acks == 0):
        quotas.record_time()
    if quotas.throttle_ms:
        if response is not None and any(spec.name == "throttle_time_ms" for spec in specs(type(response))):
            response.throttle_time_ms = quotas.throttle_ms  # type: ignore[attr-defined]
        asked.channel.mute(quotas.throttle_ms)
    return response
