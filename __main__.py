"""`python -m odradek`: the command line."""

import sys

from odradek.broker.cli import main

if __name__ == "__main__":
    sys.exit(main())
