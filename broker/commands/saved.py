"""`odradek serve --load`: the saved state, and the configuration of the cluster that starts with it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..settings.cluster_config import ClusterConfig
    from ..snapshots.cluster import State

FIRST_PORT = 9092


def saved_state(options: argparse.Namespace) -> State | None:
    """Returns the state in the file of --load, None without the option. Raises InvalidConfig if the file cannot be loaded."""
    from ..settings.properties import InvalidConfig

    if options.load is None:
        if options.trust:
            raise InvalidConfig("--trust has no effect without --load")
        return None
    from ..snapshots.state_file import InvalidStateFile, load

    if options.nodes or options.config or options.feature:
        text = "--nodes, --config and --feature cannot be combined with --load"
        raise InvalidConfig(f"{text}, because the file contains the nodes and the levels of features")
    try:
        return load(Path(options.load))
    except InvalidStateFile as error:
        raise InvalidConfig(str(error)) from None
    except OSError as error:
        raise InvalidConfig(f"cannot load {options.load}: {error.strerror or error}; give the path of a saved state") from None


def saved_config(saved: State, options: argparse.Namespace, environ: Mapping[str, str]) -> ClusterConfig:
    """Returns the configuration of a saved cluster. Options take precedence over the environment, which takes precedence over the file.

    Raises InvalidConfig.
    """
    from dataclasses import replace

    from ..settings.properties import settings_of
    from ..settings.spelling import at_broker_level
    from ..snapshots.loading import loaded_config

    given = dict(options.set) if options.ignore_unknown_settings else at_broker_level(dict(options.set))
    settings = settings_of(environ) | given
    changed = [settings | _listeners(options, shift) for shift in range(len(saved["nodes"]))]
    config = loaded_config(
        saved, changed, as_version=options.as_version, trust=options.trust, ignore_unknown_settings=options.ignore_unknown_settings
    )
    return replace(config, max_memory_bytes=options.max_memory)


def _listeners(options: argparse.Namespace, shift: int) -> dict[str, str]:
    """Returns the listeners that the options set for a node, whose ports are those of the first node plus `shift`."""
    from ..settings.endpoints import LOOPBACK

    if options.listener:
        return {"listeners": ",".join(options.listener)}
    if options.port is None and options.host is None:
        return {}
    port = FIRST_PORT if options.port is None else options.port
    return {"listeners": f"PLAINTEXT://{options.host or LOOPBACK}:{port and port + shift}"}
