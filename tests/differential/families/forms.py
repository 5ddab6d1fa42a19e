"""Every API in every version: frames that are right but unusual, and such that are no request at all."""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack

from odradek.protocol.messages import APIS
from odradek.protocol.schema import Api
from tests.protocol.reference import encode, joined
from tests.protocol.strategies import empty, full

from ..script import Ask, Case, Raw, all_versions

# Empty requests that Kafka answers with all it has, or in its own time.
TELLS_ALL = {"ApiVersions", "JoinGroup", "InitProducerId", "GetTelemetrySubscriptions"}


def cases() -> Iterator[Case]:
    for api in APIS.values():
        for version in all_versions(api):
            yield from _of_version(api, version)
        for version in (api.versions.first - 1, api.versions.last + 1, 32767, -1):
            if version != -1 or api.versions.first:
                yield Case(f"forms.{api.name}.v{version}.version", (), (Ask(api, version, bytes(20)),))
    for key in (-1, 4, 5, 6, 7, 93, 999):
        yield Case(f"forms.key.{key}", (), (Raw(framed(pack(">hhih", key, 0, 7, -1) + bytes(20))),))
    for name, frame in (
        ("empty", b""),
        ("short", b"\0\3\0"),
        ("no-client", pack(">hhi", 3, 1, 7)),
        ("client-cut", pack(">hhih", 3, 1, 7, 9)),
    ):
        yield Case(f"forms.header.{name}", (), (Raw(framed(frame)),))
    for size in (-1, -(1 << 31), 104_857_601, (1 << 31) - 1):
        yield Case(f"forms.size.{size}", (), (Raw(pack(">i", size) + bytes(100)),))


def framed(frame: bytes) -> bytes:
    return pack(">i", len(frame)) + frame


def _of_version(api: Api, version: int) -> Iterator[Case]:
    def case(name: str, payload: bytes, client_id: str | None = "test") -> Case:
        return Case(f"forms.{api.name}.v{version}.{name}", (), (Ask(api, version, payload, client_id=client_id),))

    request, everything = empty(api.request, version), full(api.request, version)
    plain, complete = request.encode(version), everything.encode(version)
    if len(complete) > 1:
        yield case("cut", complete[:-1])
        yield case("cut-in-half", complete[: len(complete) // 2])
        yield case("nothing", b"")
    if api.name not in TELLS_ALL:
        yield case("empty", plain)
        yield case("behind", plain + b"\1\2\3")
        yield case("no-client", plain, None)
    if version >= api.request.flexible_from and api.name not in TELLS_ALL:
        yield case("unknown-tags", joined(encode(request, version, unknown_tags=True)))
    yield case("lengths", b"\x7f" * (len(complete) + 8))
