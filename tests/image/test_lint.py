"""hadolint accepts the Dockerfile, and the compose file and the workflow fit their schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.image.dockerfile import FILE, ROOT
from tests.image.schemas import checked, fits

pytestmark = pytest.mark.slow  # the tools are dependencies for development only


def test_hadolint_accepts_the_dockerfile() -> None:
    assert checked("hadolint", "--no-color", str(FILE)) == (0, "")


def test_hadolint_refuses_bad_practice(tmp_path: Path) -> None:
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM python:latest\nCMD odradek serve\n")
    code, output = checked("hadolint", "--no-color", str(bad))
    assert code == 1 and "DL3007" in output


def test_compose_file_fits_its_schema() -> None:
    code, output = fits("compose-spec", ROOT / "docker-compose.yml")
    assert code == 0, output


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_workflow_fits_its_schema(name: str) -> None:
    code, output = fits("github-workflows", ROOT / ".github" / "workflows" / name)
    assert code == 0, output


def test_compose_schema_refuses_unknown_keys(tmp_path: Path) -> None:
    bad = tmp_path / "compose.yml"
    bad.write_text("services: {odradek: {image: odradek, port: ['9092:9092']}}\n")
    assert fits("compose-spec", bad)[0] == 1
