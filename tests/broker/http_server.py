"""A server that speaks HTTP instead of the Kafka protocol."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def http_server() -> Iterator[tuple[str, int]]:
    """Answers one connection as an HTTP server answers bytes that it does not understand. Yields the host and the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        yield "127.0.0.1", listening.getsockname()[1]
        thread.join()
