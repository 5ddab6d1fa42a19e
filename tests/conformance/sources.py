"""The places from which suites come: package registries, through their ordinary clients, and git repositories.

A source fills a directory with the files of one version.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Source(Protocol):
    """A place where a suite is published."""

    @property
    def needs(self) -> Sequence[str]:
        """The programs that fetch it."""

    def fetch(self, version: str, target: Path) -> None:
        """Fills `target`, which does not exist. Raises CalledProcessError if the version cannot be had."""


@dataclass(frozen=True)
class PyPI:
    """The source distribution of a Python package."""

    package: str
    needs: Sequence[str] = ()

    def fetch(self, version: str, target: Path) -> None:
        downloads = target.with_name(f"{target.name}-sdist")
        options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(downloads)]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, f"{self.package}=={version}"], check=True)
        (archive,) = downloads.glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(downloads, filter="data")
        (folder,) = (path for path in downloads.iterdir() if path.is_dir())
        folder.rename(target)


@dataclass(frozen=True)
class GoModule:
    """A module of Go's proxy, which contains its tests."""

    module: str
    needs: Sequence[str] = ("go",)

    def fetch(self, version: str, target: Path) -> None:
        command = ["go", "mod", "download", "-json", f"{self.module}@v{version}"]
        answer = subprocess.run(command, cwd=target.parent, check=True, capture_output=True, text=True).stdout
        shutil.copytree(json.loads(answer)["Dir"], target, copy_function=shutil.copyfile)
        for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
            folder.chmod(0o755)  # the cache of modules is read-only


@dataclass(frozen=True)
class Crate:
    """The sources that a crate carries, in the folder `folder`."""

    crate: str
    crate_version: str
    folder: str
    needs: Sequence[str] = ("cargo",)

    def fetch(self, version: str, target: Path) -> None:
        project = target.with_name(f"{target.name}-project")
        (project / "src").mkdir(parents=True)
        (project / "src" / "lib.rs").touch()
        manifest = (
            f'[package]\nname = "suite"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{self.crate} = "={self.crate_version}"\n'
        )
        (project / "Cargo.toml").write_text(manifest, encoding="utf-8")
        subprocess.run(["cargo", "vendor", "--quiet", "vendor"], cwd=project, check=True, stdout=subprocess.DEVNULL)
        (project / "vendor" / self.crate / self.folder).rename(target)


@dataclass(frozen=True)
class Git:
    """A tag of a git repository, which is `v` and the version."""

    url: str
    needs: Sequence[str] = ("git",)

    def fetch(self, version: str, target: Path) -> None:
        options = ["--quiet", "--depth", "1", "--branch", f"v{version}", "--config", "advice.detachedHead=false"]
        subprocess.run(["git", "clone", *options, self.url, str(target)], check=True)
