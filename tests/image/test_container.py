"""Containers of the image, imitated with Linux namespaces: user, read-only file system, health check, SIGTERM, and what clients are told.

The environments are those of compose files for other images. Each runs for real: clients connect to every advertised address.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from tests.broker.settings.environments import ENVIRONMENTS
from tests.image import container
from tests.image.container import Answers
from tests.image.dockerfile import ROOT, read_image

pytestmark = [pytest.mark.sockets, pytest.mark.slow]

IMAGES = [name for name in ENVIRONMENTS if name.startswith(("apache/kafka", "bitnami", "cp-kafka", "wurstmeister"))]
Run = Callable[..., Answers]
SIGTERM_S = 5.0
"""The stop_grace_period of docker-compose.yml."""


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment that the Dockerfile makes: the wheel and its dependencies, without pip."""
    if reason := container.missing():
        pytest.skip(reason)
    venv = tmp_path_factory.mktemp("image") / "odradek"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python"), "install", "--quiet", "--disable-pip-version-check"]
    # pip must not see the repository, because it would take the metadata that an editable installation leaves there for an installation.
    command = [*pip, f"odradek[uvloop,tls] @ {wheel.as_uri()}"]
    if subprocess.run(command, cwd=venv, env=os.environ | {"PYTHONPATH": ""}, stdout=sys.stderr, check=False).returncode:
        pytest.skip("pip cannot fetch the dependencies")
    assert (venv / "bin" / "odradek").exists()
    assert not (venv / "bin" / "pip").exists()
    return venv


@pytest.fixture
def run(installation: Path, tmp_path: Path) -> Run:
    """Runs the image with arguments and variables, and asks it at addresses."""
    image = read_image()

    def run(arguments: Sequence[str], environ: Mapping[str, str], addresses: Sequence[str], *, tmpfs: bool = False) -> Answers:
        variables = {name: value for name, value in image.environment.items() if name != "PATH"} | dict(environ)
        command = [*image.entrypoint, *arguments]
        return container.run(installation, tmp_path / "hosts", image.user, command, image.health_check, variables, addresses, tmpfs=tmpfs)

    return run


def test_container_runs_as_the_image_says(run: Run) -> None:
    answers = run(read_image().command, {}, ["127.0.0.1:9092"])
    assert (answers.pid, answers.user, answers.capabilities) == (1, 65532, 0)
    assert answers.write_error == "Read-only file system"
    assert answers.health_check_code == 0
    assert answers.brokers == {"127.0.0.1:9092": {"1": "127.0.0.1:9092"}}
    assert (answers.exit_code, answers.stop_s < SIGTERM_S) == (0, True)


def test_container_with_tls_needs_only_a_folder_in_memory(run: Run) -> None:
    environ = {"KAFKA_LISTENERS": "SSL://0.0.0.0:9092", "KAFKA_ADVERTISED_LISTENERS": "SSL://localhost:9092"}
    answers = run(["serve", "--tls", "auto"], environ, ["localhost:9092"], tmpfs=True)
    assert answers.write_error == "Read-only file system"
    assert answers.brokers == {"localhost:9092": {"1": "localhost:9092"}}
    assert (answers.health_check_code, answers.exit_code) == (0, 0)


def test_container_with_tls_without_a_folder_says_so(run: Run) -> None:
    with pytest.raises(AssertionError, match="generated certificates need a folder for temporary files, such as --tmpfs /tmp"):
        run(["serve", "--tls", "auto"], {}, ["localhost:9092"])


@pytest.mark.parametrize("name", IMAGES)
def test_container_advertises_what_other_images_do(run: Run, name: str) -> None:
    environ, expected = ENVIRONMENTS[name]
    listeners = [line.split() for line in expected]
    answers = run(["serve"], environ, [advertised for *_, advertised in listeners])
    assert answers.brokers == {advertised: {node_id: advertised} for node_id, *_, advertised in listeners}
    assert (answers.health_check_code, answers.exit_code) == (0, 0)
    told = list(answers.settings.values())
    assert all(each == told[0] for each in told)
    assert told[0]["advertised.listeners"] == ",".join(f"{listener}://{advertised}" for _, listener, _, advertised in listeners)


def test_compose_service_is_reachable_from_both_networks(run: Run) -> None:
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]["odradek"]
    answers = run(service["command"], service["environment"], ["odradek:29092", "localhost:9092"])
    assert answers.brokers["odradek:29092"] == {"1": "odradek:29092", "2": "odradek:29093"}
    assert answers.brokers["localhost:9092"] == {"1": "localhost:9092", "2": "localhost:9093"}
    assert (answers.health_check_code, answers.exit_code) == (0, 0)
