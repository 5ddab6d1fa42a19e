"""Recognises other protocols by their first bytes, so that a log line can say why a client gets no answer."""

from __future__ import annotations

_TLS_HANDSHAKE = b"\x16\x03"
_HTTP_METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"TRAC", b"PRI ")


def foreign_protocol(start: bytes) -> str:
    """The name of the protocol whose connections begin with these four bytes; empty if none is recognised."""
    if start.startswith(_TLS_HANDSHAKE):
        return "TLS"
    return "HTTP" if start in _HTTP_METHODS else ""
