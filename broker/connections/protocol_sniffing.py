"""Recognises other protocols by their first bytes, so that the log contains the reason why a client gets no response.

TLS on a PLAINTEXT listener and HTTP probes are the usual cases. Their first four bytes are not a valid frame length.
"""

from __future__ import annotations

_TLS_HANDSHAKE = b"\x16\x03"
_HTTP_METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"TRAC", b"PRI ")


def sniff_protocol(start: bytes) -> str:
    """Returns "TLS" or "HTTP" if a connection of that protocol may begin with these four bytes, otherwise ""."""
    if start.startswith(_TLS_HANDSHAKE):
        return "TLS"
    return "HTTP" if start in _HTTP_METHODS else ""


def refusal(size: int, start: bytes, limit: int, is_authenticated: bool, security_protocol: str) -> str:
    """Returns the reason for which a frame of an impossible `size` is refused. Its length field is `start`."""
    other = sniff_protocol(start)
    setting = "socket.request.max.bytes" if is_authenticated else "sasl.server.max.receive.size"
    problem = f"a frame of {size} bytes, {setting} is {limit}"
    return f"this looks like {other}, but the listener is {security_protocol}: {problem}" if other else problem
