"""The arguments of `Cluster` that need more than their values: checks of their types, and what is made of them.

Each error names the argument. An unknown keyword raises TypeError, as Python does, with the nearest keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from ..controls.http.access import ControlAddress
    from ..releases.release import Release
    from ..seed_data.reading import Place
    from ..wire.capture_options import CaptureOptions

F = TypeVar("F", bound=Callable[..., Any])

TRANSACTION_VERSIONS = (0, 1, 2)


def suggesting_keywords(function: F) -> F:
    """Returns a constructor or class method that answers an unknown keyword with the nearest of its own."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        names = function.__code__.co_varnames[1 : function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
        for name in kwargs:
            if name not in names:
                from ..control_errors import unknown_keyword

                raise TypeError(unknown_keyword(function.__qualname__.removesuffix(".__init__"), name, names))
        return function(*args, **kwargs)

    return cast(F, call)


def checked_seed(seed: int | None) -> int | None:
    """Returns the seed. Raises TypeError."""
    if seed is not None:
        _check_type("seed", seed, int)
    return seed


def files_of(data: Place | Sequence[Place]) -> list[Path]:
    """Returns the files of seed data. Raises TypeError or ValueError."""
    from ..seed_data import reading

    for each in data if isinstance(data, list | tuple) else [data]:
        _check_type("data", each, str, PathLike)
    return reading.files_of(data)


def control_address(control: str, token: str | None) -> ControlAddress:
    """Returns the address of the control listener. Raises TypeError or ValueError."""
    from ..controls.http.access import ControlAddress

    _check_type("control", control, str)
    if token is not None:
        _check_type("control_token", token, str)
    return ControlAddress.parse(control, token)


def capture_options(file: str | PathLike[str] | None, addresses: str) -> CaptureOptions | None:
    """Returns the options of the capture, None without one. Raises TypeError or ValueError."""
    if file is None:
        if addresses != "canonical":
            raise ValueError('capture_addresses has no effect without capture, such as capture="orders.pcapng"')
        return None
    from ..wire.capture_options import CaptureOptions

    _check_type("capture", file, str, PathLike)
    return CaptureOptions.of(file, addresses)


def levels_of(features: Mapping[str, int], transaction_version: int, release: Release | None) -> dict[str, int]:
    """Returns the levels of features. Raises TypeError or ValueError."""
    if transaction_version not in TRANSACTION_VERSIONS:
        raise ValueError(f"transaction_version must be 0, 1 or 2, not {transaction_version!r}")
    if features:
        from ..cluster.features import check_levels

        _check_type("features", features, Mapping)
        for name, level in features.items():
            _check_type(f"features: the level of {name}", level, int)
        check_levels(features, release)
    return {"transaction.version": transaction_version, **features}


def _check_type(name: str, value: object, *kinds: type) -> None:
    """Raises TypeError unless a value has one of some types; True and False are no numbers."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(f"{name} must be {' or '.join(each.__name__ for each in kinds)}, not {value!r}")
