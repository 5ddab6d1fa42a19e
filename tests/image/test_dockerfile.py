"""Checks of the Dockerfile without Docker: the copied files, good practice, and the listeners of a container."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence

import pytest

from odradek.broker.cli import _parser
from odradek.broker.commands.serve import cluster_config
from tests.broker.settings.environments import ENVIRONMENTS
from tests.image.dockerfile import FILE, ROOT, read_image


def test_dockerfile_copies_the_sources_of_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, packages = settings["project"], settings["tool"]["setuptools"]["packages"]
    folders = {name.split(".")[1] for name in packages if name.startswith("odradek.")}
    metadata = {"pyproject.toml", project["readme"], *project["license-files"]}
    assert read_image().copied == folders | metadata | {"__init__.py", "__main__.py", "py.typed"}


def test_dockerignore_allows_only_the_copied_files() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*"
    assert {line.removeprefix("!") for line in rules if line.startswith("!")} == read_image().copied


def test_dockerfile_pins_one_base_image() -> None:
    images = re.findall(r"^FROM (\S+)", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    assert images[1:] == ["base", "base"]
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-trixie(@sha256:[0-9a-f]{64})?", images[0])
    assert read_image().labels["org.opencontainers.image.base.name"] == f"docker.io/library/{images[0]}"


def test_dockerfile_follows_good_practice() -> None:
    image = read_image()
    user, _, group = image.user.partition(":")
    assert int(user) > 0 and int(group) > 0
    assert image.stop_signal == "SIGTERM"
    assert image.health_check == ["odradek", "healthcheck"]
    assert (image.entrypoint, image.command) == (["odradek"], ["serve"])
    assert image.volume == "/var/lib/odradek"
    owned = f"RUN install --directory --owner={user} --group={group} --mode=0700 {image.volume}\n"
    assert owned in FILE.read_text(encoding="utf-8"), "a new volume gets the owner of the folder"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert image.labels["org.opencontainers.image.licenses"] == project["license"]
    assert image.labels["org.opencontainers.image.title"] == project["name"]


def test_build_writes_the_bytecode_of_starts_and_checks() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert text.index("ENV PATH=") < text.index("RUN odradek ") < text.index("USER "), "only root may write it"
    (words,) = [shlex.split(line) for line in re.findall(r"^RUN odradek (.*)", text, re.MULTILINE)]
    assert words == [*read_image().command, "--port", "0", "--exec", shlex.join(read_image().health_check)]
    python = [sys.executable, "-m", "odradek"]
    words[-1] = shlex.join([*python, "healthcheck"])  # the command is not on the PATH of every test run
    variables = {name: value for name, value in read_image().environment.items() if name != "PATH"}
    done = subprocess.run([*python, *words], env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def in_a_container(command: Sequence[str], environ: dict[str, str]) -> list[str]:
    """Returns the listeners of `docker run -e ... odradek command`."""
    cluster = cluster_config(_parser().parse_args(command), read_image().environment | environ)
    return [f"{each.node_id} {each.name} {each.host}:{each.port} {each.advertised}" for node in cluster.nodes for each in node.listeners]


def test_container_is_reachable_through_the_published_port() -> None:
    reachable = "1 PLAINTEXT 0.0.0.0:9092 127.0.0.1:9092"
    assert in_a_container(read_image().command, {}) == [reachable]
    assert in_a_container(["serve", "--topic", "orders:4"], {}) == [reachable]
    assert in_a_container(["serve", "--nodes", "2"], {}) == [reachable, "2 PLAINTEXT 0.0.0.0:9093 127.0.0.1:9093"]
    assert in_a_container(["serve", "--port", "9095"], {}) == ["1 PLAINTEXT 0.0.0.0:9095 127.0.0.1:9095"]
    assert in_a_container(["serve", "--listener", "A://0.0.0.0:1", "--nodes", "1"], {}) == ["1 A 0.0.0.0:1 127.0.0.1:1"]


@pytest.mark.parametrize("name", [name for name in ENVIRONMENTS if "Kubernetes" not in name])
def test_container_follows_the_environment_of_other_images(name: str) -> None:
    environ, expected = ENVIRONMENTS[name]
    assert in_a_container(["serve"], environ) == expected
