"""The hash seed, which gives sets of texts the same order in each process. It can only be set when Python starts."""

from __future__ import annotations

import os
import sys

LINE = "odradek: starting Python once more with PYTHONHASHSEED=0, so that a seed has one history in every process\n"


def is_hash_seed_fixed() -> bool:
    """Returns whether texts have the same hashes in each process."""
    return os.environ.get("PYTHONHASHSEED", "random") != "random" or not sys.flags.hash_randomization


def fix_hash_seed() -> None:
    """Starts a script once more with a fixed hash seed. Does nothing if it is fixed, in an interactive session, and under pytest.

    pytest is started once more by the plugin, before the first test.
    """
    is_script = getattr(sys.modules.get("__main__"), "__file__", None) is not None and not sys.flags.interactive
    if is_script and "pytest" not in sys.modules and not is_hash_seed_fixed():
        start_again()


def start_again() -> None:
    """Replaces this process by the same one with a fixed hash seed, after one line that says so."""
    sys.stderr.write(LINE)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})
