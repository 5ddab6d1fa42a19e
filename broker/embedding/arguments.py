"""Checks of the arguments of `Cluster`, and what a server starts with that is made of them.

Each error names the argument. An unknown keyword raises TypeError, as Python does, with the nearest keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import wraps
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..control_errors import unknown_keyword
from ..settings.properties import SettingValue, as_text
from ..settings.schema_registry import NAMES as REGISTRY_SETTINGS
from ..settings.schema_registry import RegistrySettings

if TYPE_CHECKING:
    from ..controls.http.access import ControlAddress
    from ..directories.selection import LogDirOptions, Selection
    from ..directories.source import ImportSource
    from ..durability.data_directory import DataDirectory
    from ..registry_edge.access import RegistryAddress
    from ..releases.release import Release
    from ..security.startup import Security
    from ..seed_data.reading import Place
    from ..settings.cluster_config import ClusterConfig
    from ..wire.capture_options import CaptureOptions

F = TypeVar("F", bound=Callable[..., Any])

ANY_PORT = "PLAINTEXT://127.0.0.1:0"
TRANSACTION_VERSIONS = (0, 1, 2)


def suggest_keywords(function: F) -> F:
    """Returns a constructor or class method that answers an unknown keyword with the nearest of its own."""
    names = list(signature(function).parameters)[1:]

    @wraps(function)
    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in names:
                called = type(owner).__name__ if function.__name__ == "__init__" else f"{owner.__name__}.{function.__name__}"
                raise TypeError(unknown_keyword(called, name, names))
        return function(owner, *args, **kwargs)

    return cast(F, call)


def log_dirs_of(given: Sequence[str | PathLike[str]] | LogDirOptions) -> ImportSource | None:
    """Returns the log directories to import, and the part to take; None without any. Raises TypeError or ValueError."""
    if not given:
        return None
    from ..directories.selection import LogDirImport, LogDirOptions
    from ..directories.source import source_of

    _check_type("from_log_dirs", given, list, tuple, dict)
    options = given if isinstance(given, dict) else LogDirOptions(directories=given)
    names = LogDirOptions.__annotations__
    if unknown := [name for name in options if name not in names]:
        raise ValueError(f"from_log_dirs: unknown option {unknown[0]!r}; the options are {', '.join(names)}")
    if not options.get("directories"):
        raise ValueError("from_log_dirs: directories is missing; give log.dirs of a broker")
    _check_items("from_log_dirs: directories", options["directories"], str, PathLike)
    _check_items("from_log_dirs: topics", options.get("topics", ()), str)
    return source_of(LogDirImport([Path(each) for each in options["directories"]], _selection(options)))


def _selection(options: LogDirOptions) -> Selection:
    from ..directories.selection import Selection

    for name in ("from_offset", "until_time", "latest"):
        value = options.get(name, 0)
        _check_type(f"from_log_dirs: {name}", value, int, *((datetime,) if name == "until_time" else ()))
        if isinstance(value, int) and value < 0:
            raise ValueError(f"from_log_dirs: {name} must be at least 0, not {value}")
    until = options.get("until_time")
    until_ms = int(until.timestamp() * 1000) if isinstance(until, datetime) else until
    return Selection(options.get("topics", ()), options.get("from_offset"), until_ms, options.get("latest"))


def data_directory_of(data_dir: str | PathLike[str] | None, others: bool) -> DataDirectory | None:
    """Returns the directory that keeps the data of a cluster, None without one. `others` is whether other data is given.

    Raises TypeError or ValueError.
    """
    if data_dir is None:
        return None
    from ..durability.data_directory import DataDirectory

    _check_type("data_dir", data_dir, str, PathLike)
    if others:
        raise ValueError("data_dir cannot be combined with from_log_dirs and as_version")
    return DataDirectory(Path(data_dir))


def check_limit(memory_limit: int | None, directory: DataDirectory | None) -> int | None:
    """Returns the limit of the memory for records in bytes, None without one. Raises TypeError or ValueError."""
    if memory_limit is None:
        return None
    _check_type("memory_limit", memory_limit, int)
    if memory_limit < 1:
        raise ValueError(f"memory_limit must be at least 1 byte, not {memory_limit}")
    if directory is None:
        raise ValueError("memory_limit has no effect without data_dir, whose files have the records that are not in memory")
    return memory_limit


def cluster_config(
    nodes: int,
    settings: Mapping[str, SettingValue],
    security: Security,
    as_version: str | None,
    *,
    ignore_unknown: bool,
    source: ImportSource | None = None,
    keeps_data: bool = False,
) -> ClusterConfig:
    """Returns the nodes with their settings, on free ports unless the settings contain listeners. Raises TypeError or ValueError.

    With a source, the nodes are those of its log directories. With `keeps_data`, a data directory follows the cluster.
    """
    from ..logs import warn_of_unknown_settings
    from ..settings.cluster_config import cluster_of
    from ..settings.spelling import at_broker_level

    if not isinstance(nodes, int) or isinstance(nodes, bool):
        raise TypeError(f"nodes must be an int, not {nodes!r}")
    given = texts_of(settings)
    if not ignore_unknown:
        given = at_broker_level(given)
    brokers = [security.settings({"listeners": ANY_PORT} | given, settings)]
    config = cluster_of(
        brokers,
        nodes=nodes,
        identities=() if source is None else [source.settings_of(node_id) for node_id in sorted(source.nodes)],
        cluster_id="" if source is None else source.cluster_id,
        as_version=as_version,
        ignore_unknown_settings=ignore_unknown,
    )
    warn_of_unknown_settings(config.unknown)
    return security.apply_to(replace(config, keeps_data=keeps_data))


def texts_of(settings: Mapping[str, SettingValue]) -> dict[str, str]:
    """Returns settings with their values as texts. Raises TypeError."""
    for name in settings:
        if not isinstance(name, str):
            raise TypeError(f"the name of a setting must be a str, not {name!r}")
    return {name: as_text(name, value) for name, value in settings.items()}


def check_seed(seed: int | None) -> None:
    """Raises TypeError for a seed that is not an integer."""
    if seed is not None:
        _check_type("seed", seed, int)


def files_of(data: Place | Sequence[Place]) -> list[Path]:
    """Returns the files of seed data. Raises TypeError or ValueError."""
    if not data:
        return []
    from ..seed_data import reading

    for each in data if isinstance(data, list | tuple) else [data]:
        _check_type("data", each, str, PathLike)
    return reading.files_of(data)


def control_address(control: str | None, token: str | None) -> ControlAddress | None:
    """Returns the address of the control listener, None without one. Raises TypeError or ValueError."""
    if control is None:
        if token is not None:
            raise ValueError('control_token has no effect without control, such as control="127.0.0.1:0"')
        return None
    from ..controls.http.access import ControlAddress

    _check_type("control", control, str)
    if token is not None:
        _check_type("control_token", token, str)
    return ControlAddress.parse(control, token)


def registry_address(schema_registry: bool | str) -> RegistryAddress | None:
    """Returns the address of the schema registry, None without one. Raises TypeError or ValueError."""
    if schema_registry is False:
        return None
    from ..registry_edge.access import ANY_PORT, RegistryAddress

    if schema_registry is True:
        return RegistryAddress.parse(ANY_PORT)
    _check_type("schema_registry", schema_registry, bool, str)
    return RegistryAddress.parse(schema_registry)


def split_registry_settings(settings: Mapping[str, SettingValue]) -> tuple[RegistrySettings, dict[str, SettingValue]]:
    """Returns the settings of the schema registry, and those of brokers. Raises TypeError or ValueError."""
    if not isinstance(settings, Mapping):
        raise TypeError(f'settings must be a mapping such as {{"num.partitions": 3}}, not {settings!r}')
    own = {name: as_text(name, value) for name, value in settings.items() if name in REGISTRY_SETTINGS}
    return RegistrySettings.of(own), {name: value for name, value in settings.items() if name not in own}


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
    """Raises TypeError unless a value has one of some types; True and False do not count as numbers."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(f"{name} must be {' or '.join(each.__name__ for each in kinds)}, not {value!r}")


def _check_items(name: str, values: Sequence[object], *kinds: type) -> None:
    """Raises TypeError unless values are a list or a tuple of some types."""
    _check_type(name, values, list, tuple)
    for each in values:
        _check_type(name, each, *kinds)
