"""`make explore-corpus`: explores all services and recipes, correct and with their mistakes, and prints what was found."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.explored.corpus import ExploredService, explore_test
from tests.explored.languages import explore_go, explore_java
from tests.explored.planted import MISTAKES, text_of
from tests.explored.recipes import OPTIONS, WITHOUT_FAULTS, recipe_of

WORKERS = 2


def main() -> int:
    """Returns 0 if every mistake was found and no correct service was blamed."""
    parser = argparse.ArgumentParser(prog="python -m tests.explored")
    parser.add_argument("names", nargs="*", metavar="NAME", help="services and recipes to explore (default: all)")
    names = parser.parse_args().names or [*MISTAKES, *WITHOUT_FAULTS]
    with tempfile.TemporaryDirectory() as root, ThreadPoolExecutor(WORKERS) as workers:
        jobs = [
            (name, correct, workers.submit(explore, name, Path(tempfile.mkdtemp(dir=root)), correct=correct))
            for name in names
            for correct in (True, False)
        ]
        wrong = [name for name, correct, job in jobs if is_wrong(name, job.result(), correct=correct)]
    print(f"{len(names)} services, wrong verdicts: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


def explore(name: str, folder: Path, *, correct: bool) -> ExploredService:
    """Explores a service or a recipe, correct or with its mistake. Returns what was found."""
    if name.endswith(".go"):
        return explore_go(name, folder, correct=correct)
    if name.endswith(".java"):
        return explore_java(name, folder, correct=correct)
    text = text_of(name, correct=correct) if name in MISTAKES else recipe_of(name, correct=correct)
    return explore_test(name.removesuffix(".py"), text, folder, *OPTIONS.get(name, ()))


def is_wrong(name: str, found: ExploredService, *, correct: bool) -> bool:
    """Prints what was found, and returns whether it is the wrong verdict."""
    wrong = bool(found.problem) or found.is_blamed is correct
    kind = "correct" if correct else "mistake"
    verdict = found.problem or ("found" if found.is_blamed else "survives")
    print(f"{'WRONG ' if wrong else ''}{name} ({kind}): {verdict}; {found.runs} runs in {found.seconds:.0f} s, {found.left} left")
    for line in lines_of(found) if wrong or not correct else ():
        print(f"    {line}")
    sys.stdout.flush()
    return wrong


def lines_of(found: ExploredService) -> Iterator[str]:
    """Yields a line for each fault that breaks the service."""
    for trial, message in found.failures.items():
        yield f"{trial}: {' '.join(message.split())[:140]}"


if __name__ == "__main__":
    sys.exit(main())
