"""Sends generated frames to a broker, in process and over sockets: `make fuzz FRAMES=5000000 SOCKET_FRAMES=1000000 SEED=1`.

`ROUND=17` repeats one round.
"""

from __future__ import annotations

import argparse
import os
import sys
from random import randrange

from .in_process import in_process
from .rounds import FRAMES_A_ROUND
from .sockets import over_sockets


def main(argv: list[str]) -> int:
    options = _options(argv)
    if options.round is not None:
        violations = in_process(options.seed, [options.round], min(options.frames, FRAMES_A_ROUND), processes=1)
    else:
        rounds = range(-(-options.frames // FRAMES_A_ROUND))
        violations = in_process(options.seed, rounds, FRAMES_A_ROUND, options.processes) if rounds else 0
        violations += over_sockets(options.seed, options.socket_frames, options.connections) if options.socket_frames else 0
    return 1 if violations else 0


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--frames", type=int, default=5_000_000)
    parser.add_argument("--socket-frames", type=int, default=1_000_000)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=randrange(1 << 32))
    parser.add_argument("--round", type=int, help="repeat only this round of an earlier run with the same seed")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
