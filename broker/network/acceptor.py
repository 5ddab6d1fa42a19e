"""Accepts connections on one listener of a node, within the limits of the node.

`socket_acceptor.py` accepts them on a listening socket that it registers with the event loop, and `loop_acceptor.py` by
`loop.create_server`, for event loops that cannot watch sockets. Both pass what they have accepted to the class of this module.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ..cluster.broker import Broker
from ..settings.listeners import Listener

if TYPE_CHECKING:
    from .server import Server

log = logging.getLogger("kafka.network.SocketServer")

ACCEPT_RETRY_S = 1.0
ACCEPTS_PER_TURN = 32


class Accepted(Protocol):
    """An accepted connection that nobody serves yet: a socket, or a transport."""

    def close(self) -> None: ...

    def __hash__(self) -> int: ...


A = TypeVar("A", bound=Accepted)


class Acceptor(Generic[A]):
    """Accepts connections on one listener of a node, from `listen` until `close`."""

    def __init__(self, server: Server, broker: Broker, listener: Listener) -> None:
        self._server = server
        self._node_id = broker.node_id
        self.listener = listener
        self.name = listener.name
        self._loop = asyncio.get_running_loop()
        self._paused = True
        self._held: dict[A, None] = {}
        """Accepted connections that wait, because connections are created too fast."""
        self._delayed = False  # whether accepting is paused for the same reason

    async def listen(self) -> None:
        """Starts to listen. Raises OSError if the address is in use."""
        raise NotImplementedError

    def stop_listening(self) -> None:
        """Stops listening. Does nothing if this has happened already."""
        raise NotImplementedError

    def refuse(self, refused: bool) -> None:
        """Stops listening, so that connections are refused, or listens again. Raises OSError if the port is in use."""
        raise NotImplementedError

    @property
    def _listens(self) -> bool:
        raise NotImplementedError

    def _watch(self) -> None:
        """Calls `_accept` when there are connections, from now on."""
        raise NotImplementedError

    def _unwatch(self) -> None:
        """Ends what `_watch` has begun. Connections wait."""
        raise NotImplementedError

    def _next(self) -> tuple[A, Any]:
        """Returns the next connection and the address of its client. Raises BlockingIOError if there is none, and OSError."""
        raise NotImplementedError

    def _open(self, accepted: A, host: str, port: int) -> None:
        """Lets the core serve a connection. Raises OSError if the client has disconnected."""
        raise NotImplementedError

    @property
    def broker(self) -> Broker:
        """The node in the present cluster, which a restored state replaces."""
        return self._server.cluster.brokers[self._node_id]

    async def close(self) -> None:
        """Stops listening. Connections that have been accepted are open when this returns."""
        self.stop_listening()
        for held in self._held:
            self._server.core.timers.cancel(held)
            held.close()

    def resume(self) -> None:
        """Accepts again if accepting was paused. Does nothing after `close`, and while the node is silent.

        Connections to a silent node are completed until the queue of the kernel is full, so that clients can connect but get no answer.
        """
        if self._paused and self._listens and not self._delayed and self.broker.silence is None:
            self._paused = False
            self._watch()

    def pause(self) -> None:
        """Accepts no connections until `resume` is called."""
        self._paused = True
        if self._listens:
            self._unwatch()

    def _accept(self) -> None:
        """Accepts up to ACCEPTS_PER_TURN connections. The event loop calls it again while there are more."""
        quotas = self.broker.connections
        self._server.driver.begin_turn()
        try:
            for _ in range(ACCEPTS_PER_TURN):
                if quotas.full:
                    text = "[KafkaServer id=%d] connection limit reached (max.connections=%d); accepting paused"
                    log.info(text, self.broker.node_id, quotas.limit)
                    self.pause()
                    return
                if not self._meet(*self._next()):
                    return
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            log.warning("[KafkaServer id=%d] cannot accept connections: %s; trying again", self.broker.node_id, error)
            self._loop.call_later(ACCEPT_RETRY_S, self.resume)
            self.pause()
        finally:
            self._server.driver.after_turn()

    def _meet(self, accepted: A, address: Any) -> bool:
        """Opens an accepted connection, or holds it if connections are created too fast. Returns False if accepting is paused."""
        timers = self._server.core.timers
        wait_ms, refused = self._server.core.connection_rates(self.broker).admit(self.name, address[0], timers.now_ms)
        if not wait_ms:
            self._admit(accepted, address)
            return True
        self._held[accepted] = None
        if refused:
            text = "[KafkaServer id=%d] closing a connection from %s in %d ms: its connection_creation_rate is exceeded"
            log.info(text, self.broker.node_id, address[0], wait_ms)
            timers.set(accepted, wait_ms, partial(self._refuse_held, accepted))
            return True
        self.pause()
        self._delayed = True
        timers.set(accepted, wait_ms, partial(self._admit_held, accepted, address))
        return False

    def drop_held(self) -> None:
        """Closes the connections that wait, and ends a delay, because a restored state has ended the timers of both."""
        for held in self._held:
            held.close()
        self._held.clear()
        self._delayed = False

    def _refuse_held(self, accepted: A) -> None:
        del self._held[accepted]
        accepted.close()

    def _admit_held(self, accepted: A, address: Any) -> None:
        del self._held[accepted]
        self._admit(accepted, address)
        self._delayed = False
        self.resume()

    def _admit(self, accepted: A, address: Any) -> None:
        """Opens an accepted connection, or closes it if its address has reached max.connections.per.ip. Raises no exception."""
        host, port, *_ = address
        quotas, node_id = self.broker.connections, self.broker.node_id
        if not quotas.take(host):
            accepted.close()
            text = "[KafkaServer id=%d] rejected a connection from %s: connection limit reached (max.connections.per.ip=%d)"
            log.info(text, node_id, host, quotas.limit_of(host))
            return
        try:
            self._open(accepted, host, port)
            return
        except OSError as error:
            log.info("[KafkaServer id=%d] closing a connection from %s: %s", node_id, host, error)
        except Exception:
            text = "[KafkaServer id=%d] closing a connection from %s: an internal error while accepting it"
            log.exception(text, node_id, host)
        accepted.close()
        self._server.listeners.release(self.broker, host)
