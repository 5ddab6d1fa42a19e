"""A tag of a git repository is fetched. The registries need the network; `make conformance` shows that they work."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conformance.sources import Git

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose only tag is behind its newest commit."""
    place = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", place], check=True)
    for text, then in (("old", ["tag", "v1.0"]), ("new", ["status"])):
        (place / "test.txt").write_text(text)
        for command in (["add", "."], [*AUTHOR, "commit", "--quiet", "-m", text], then):
            subprocess.run(["git", *command], cwd=place, check=True, stdout=subprocess.DEVNULL)
    return place


def test_git_fetches_the_tag_of_a_version(repository: Path, tmp_path: Path) -> None:
    Git(repository.as_uri()).fetch("1.0", tmp_path / "source")
    assert (tmp_path / "source" / "test.txt").read_text() == "old"


def test_git_without_the_tag_raises(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        Git(repository.as_uri()).fetch("2.0", tmp_path / "source")
