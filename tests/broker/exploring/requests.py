"""Requests from texts: fields with plain values, others with their defaults."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.faults.respond import new
from odradek.protocol.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.schema import Api, Message


def request_of(api: Api, fields: Sequence[str]) -> Message:
    """Returns a request with fields such as "group_id=billing" or "member_epoch=0"."""
    request = new(api.request)
    for field in fields:
        name, _, value = field.partition("=")
        setattr(request, name, int(value) if value.lstrip("-").isdecimal() else value)
    if isinstance(request, FindCoordinatorRequest) and not request.key_type:
        request.key_type = 0
    return request
