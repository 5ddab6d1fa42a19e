"""Records the answers of a running Karapace: python -m tests.broker.schema_registry.karapace http://127.0.0.1:8081

Karapace must be empty, with the compatibility BACKWARD.
"""

from __future__ import annotations

import json
import sys
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from .comparison import RECORDED, Ids, Recorded
from .scripts import Request, scripts


def main(url: str) -> None:
    address = urlsplit(url)
    assert address.hostname is not None
    connection = HTTPConnection(address.hostname, address.port, timeout=30)
    recorded = []
    for script in scripts():
        ids = Ids()
        for request in script.requests:
            status, body = ask(connection, request, ids)
            recorded.append(Recorded(script.name, request.line, status, ids.numbered(request.line, body)))
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in recorded)
    RECORDED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def ask(connection: HTTPConnection, request: Request, ids: Ids) -> tuple[int, Any]:
    """Returns the status and the body of the answer, a text if it is no JSON; the status 0 if the connection ends instead."""
    method, _, path = request.line.replace("{id}", str(ids.first)).partition(" ")
    body = None if request.body is None else json.dumps(request.body)
    try:
        connection.request(method, path, body, {"Content-Type": "application/vnd.schemaregistry.v1+json"})
        response = connection.getresponse()
        text = response.read()
        if response.status == 500:
            connection.close()  # because Karapace does
    except ConnectionError:
        connection.close()
        return 0, None
    try:
        return response.status, json.loads(text)
    except ValueError:
        return response.status, text.decode()


if __name__ == "__main__":
    main(sys.argv[1])
