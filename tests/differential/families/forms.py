"""Every API in every version: frames that are valid but unusual, and frames that are not requests."""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack

from odradek.protocol.messages import APIS
from odradek.protocol.schema import Api
from tests.protocol.reference import encode, joined
from tests.protocol.strategies import empty, full

from ..case import Case, Send, SendRaw, all_versions

# Kafka answers empty requests of these APIs with data that differs between clusters, or only later.
WITHOUT_EMPTY_REQUEST = {"ApiVersions", "JoinGroup", "InitProducerId", "GetTelemetrySubscriptions"}


def cases() -> Iterator[Case]:
    for api in APIS.values():
        for version in all_versions(api):
            yield from _of_version(api, version)
        for version in (api.versions.first - 1, api.versions.last + 1, 32767, -1):
            if version != -1 or api.versions.first:
                yield Case(f"forms.{api.name}.v{version}.version", (), (Send(api, version, bytes(20)),))
    for key in (-1, 4, 5, 6, 7, 93, 999):
        yield Case(f"forms.key.{key}", (), (SendRaw(framed(pack(">hhih", key, 0, 7, -1) + bytes(20))),))
    for name, frame in (
        ("empty", b""),
        ("short", b"\0\3\0"),
        ("no-client", pack(">hhi", 3, 1, 7)),
        ("client-cut", pack(">hhih", 3, 1, 7, 9)),
    ):
        yield Case(f"forms.header.{name}", (), (SendRaw(framed(frame)),))
    for size in (-1, -(1 << 31), 104_857_601, (1 << 31) - 1):
        yield Case(f"forms.size.{size}", (), (SendRaw(pack(">i", size) + bytes(100)),))


def framed(frame: bytes) -> bytes:
    return pack(">i", len(frame)) + frame


def _of_version(api: Api, version: int) -> Iterator[Case]:
    def case(name: str, payload: bytes, client_id: str | None = "test") -> Case:
        return Case(f"forms.{api.name}.v{version}.{name}", (), (Send(api, version, payload, client_id=client_id),))

    request, everything = empty(api.request, version), full(api.request, version)
    plain, complete = request.encode(version), everything.encode(version)
    if len(complete) > 1:
        yield case("cut", complete[:-1])
        yield case("cut-in-half", complete[: len(complete) // 2])
        yield case("nothing", b"")
    if api.name not in WITHOUT_EMPTY_REQUEST:
        yield case("empty", plain)
        yield case("behind", plain + b"\1\2\3")
        yield case("no-client", plain, None)
    if version >= api.request.flexible_from and api.name not in WITHOUT_EMPTY_REQUEST:
        yield case("unknown-tags", joined(encode(request, version, unknown_tags=True)))
    yield case("lengths", b"\x7f" * (len(complete) + 8))
