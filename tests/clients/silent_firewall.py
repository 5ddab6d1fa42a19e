"""A firewall between a client and a broker, which forgets connections: their packets are dropped, and neither side learns of it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class SilentFirewall:
    """Forwards connections from a port of its own to `target`. `forget` drops all further bytes and ends of the present connections."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.target = ("", 0)
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._forgotten: set[int] = set()
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def forget(self) -> None:
        with self._lock:
            self._forgotten |= {id(each) for each in self._sockets}

    def close(self) -> None:
        self._listening.close()
        with self._lock:
            self._is_closed = True
            for each in self._sockets:
                each.close()

    def _accept(self) -> None:
        with suppress(OSError):  # until it is closed
            while True:
                client, _ = self._listening.accept()
                self._join(client)

    def _join(self, client: socket.socket) -> None:
        """Connects a client to the target. The client is closed if the target does not listen, or if the firewall is closed."""
        try:
            broker = socket.create_connection(self.target)
        except OSError:
            client.close()
            return
        with self._lock:
            self._sockets += [client, broker]
            if self._is_closed:
                client.close()
                broker.close()
        for source, sink in ((client, broker), (broker, client)):
            threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self._is_forgotten(source):
                    sink.sendall(data)
            if not self._is_forgotten(source):
                sink.shutdown(socket.SHUT_WR)

    def _is_forgotten(self, source: socket.socket) -> bool:
        with self._lock:
            return id(source) in self._forgotten
