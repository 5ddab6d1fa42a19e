"""The instructions of the Dockerfile for containers of the image."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from dockerfile_parse import DockerfileParser

ROOT = Path(__file__).parents[2]
FILE = ROOT / "Dockerfile"


class Image(NamedTuple):
    """The instructions of the last stage. `copied` are the files that the build takes from the repository."""

    copied: set[str]
    environment: dict[str, str]
    user: str
    stop_signal: str
    health_check: list[str]
    entrypoint: list[str]
    command: list[str]
    labels: dict[str, str]
    volume: str


def read_image() -> Image:
    with FILE.open("rb") as file:
        parser = DockerfileParser(fileobj=file)
        instructions = [(each["instruction"], each["value"]) for each in parser.structure]
        labels = dict(parser.labels)
    last = dict(instructions)  # each of these stands in the last stage only, but for ENV
    pairs = [part.partition("=") for instruction, value in instructions if instruction == "ENV" for part in shlex.split(value)]
    copies = [value for instruction, value in instructions if instruction == "COPY" and "--from" not in value]
    check = re.search(r"CMD (\[.*\])$", last["HEALTHCHECK"])
    assert check is not None, "the health check has to have the exec form, which needs no shell"
    return Image(
        {name for value in copies for name in value.split()[:-1]},
        {name: value for name, _, value in pairs},
        last["USER"],
        last["STOPSIGNAL"],
        json.loads(check[1]),
        json.loads(last["ENTRYPOINT"]),
        json.loads(last["CMD"]),
        labels,
        last["VOLUME"],
    )
