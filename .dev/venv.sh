#!/bin/sh
# Makes .venv with the Python that is given, or explains why the .venv that is there cannot be used.
set -eu

python=$1
supported='import sys; sys.exit(sys.version_info < (3, 11))'
needed='odradek needs Python 3.11 or later'
again='Remove it and try again: rm -rf .venv (make PYTHON=python3.12 ... chooses a Python)'

fail() {
    echo "$1" >&2
    exit 1
}

if [ ! -e .venv ] && [ ! -L .venv ]; then
    command -v "$python" >/dev/null || fail "There is no $python. $needed: install it, or name one with make PYTHON=python3.12 ..."
    "$python" -c "$supported" || fail "$python is $("$python" -V 2>&1), but $needed. Name one with make PYTHON=python3.12 ..."
    echo "Making .venv with $("$python" -V 2>&1) ..." >&2
    "$python" -m venv .venv >&2 || fail "$python cannot make a .venv, see above. $again"
fi
.venv/bin/python -c '' 2>/dev/null || fail ".venv is broken: its Python does not start. $again"
.venv/bin/python -c "$supported" || fail ".venv was made by $(.venv/bin/python -V 2>&1), but $needed. $again"
[ -e .venv/bin/pip ] || fail ".venv is incomplete: it has no pip. $again"
# A venv has its own path in its scripts.
head -n 3 .venv/bin/pip | grep -qF -e "$(pwd -P)/.venv/bin/" -e "$(cd .venv && pwd -P)/bin/" || fail ".venv was made in another folder. $again"
