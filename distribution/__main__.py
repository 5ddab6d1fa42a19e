"""`make dist`: builds the files of a release from the commit into dist/. `--no-executable` leaves out what needs downloads."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import odradek

from .builds import Build, build_all, commit_time_s, export

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make dist", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder of the results, which is emptied (default: dist)")
    parser.add_argument("--no-executable", action="store_true", help="build neither the executable nor its bill of materials")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        build = Build(Path(scratch, "source"), options.output.resolve(), Path(scratch), odradek.__version__, commit_time_s(ROOT))
        export(ROOT, build.source)
        for name, size_bytes in build_all(build, with_executable=not options.no_executable).items():
            print(f"{size_bytes / 1e6:8.2f} MB  {name}")


if __name__ == "__main__":
    main()
