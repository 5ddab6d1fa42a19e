"""Message classes as Python objects, and the properties of `Api` and `Versions`."""

from __future__ import annotations

import pytest

from odradek.protocol.messages import APIS
from odradek.protocol.schema import Int32, Message, versions


class Inner(Message):
    number: Int32 = 7
    text: str = "seven"


class Outer(Message):
    flag: bool
    inner: Inner | None = None


def test_init_takes_keywords_only() -> None:
    assert (Inner(), Inner(text="")) == (Inner(number=7, text="seven"), Inner(number=7, text=""))
    with pytest.raises(TypeError, match="flag"):
        Outer()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="nothing"):
        Inner(nothing=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Inner(1)  # type: ignore[call-arg]


def test_equality_compares_type_and_values() -> None:
    class Other(Message):
        number: Int32 = 7
        text: str = "seven"

    assert Inner() != Other()
    assert Inner() != Inner(number=8)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Inner())


def test_repr_shows_fields() -> None:
    assert repr(Inner(text="'")) == """Inner(number=7, text="'")"""


def test_api_header_versions_follow_flexible_versions() -> None:
    """Response headers are v0 and v1; but ApiVersions answers with v0 (KIP-511)."""
    produce, api_versions = APIS[0], APIS[18]
    assert [produce.response_header_version(v) for v in (8, 9)] == [0, 1]
    assert [api_versions.response_header_version(v) for v in (2, 3)] == [0, 0]
    assert (produce.name, api_versions.name) == ("Produce", "ApiVersions")


def test_versions_contains_both_ends() -> None:
    served = versions(2, 4)
    assert [v for v in range(7) if v in served] == [2, 3, 4]
    assert "3" not in served


def test_registry_keys_are_those_of_apis() -> None:
    assert [key for key, api in APIS.items() if api.key != key] == []
