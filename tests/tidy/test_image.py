"""The Dockerfile without Docker: it copies all that the wheel needs, and .dockerignore lets no more through than that."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copied() -> set[str]:
    lines = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    return {name for line in lines for name in line.split()}


def test_dockerfile_copies_what_the_wheel_is_built_from() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, packages = settings["project"], settings["tool"]["setuptools"]["packages"]
    folders = {name.split(".")[1] for name in packages if name.startswith("odradek.")}
    metadata = {"pyproject.toml", project["readme"], *project["license-files"]}
    assert copied() == folders | metadata | {"__init__.py", "py.typed"}


def test_dockerignore_lets_through_what_is_copied() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*"
    assert {line.removeprefix("!") for line in rules if line.startswith("!")} == copied()
