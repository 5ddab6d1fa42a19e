"""pyright accepts a program that uses all of the public interface. `make lint` checks it by mypy, as it checks all tests."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import odradek
import odradek.plugin
from odradek import plugin

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("public_api.py")
SOURCE = PROGRAM.read_text(encoding="utf-8")
VARIABLES = {
    "Cluster": "cluster",
    "Clock": "cluster.clock",
    "Schemas": "cluster.schemas",
    "Wire": "cluster.wire",
    "KafkaWire": "kafka_wire",
    "KafkaFaults": "kafka_faults",
    "AsyncCluster": "given",
    "AsyncClock": "given.clock",
    "AsyncSchemas": "given.schemas",
    "AsyncWire": "given.wire",
    "AsyncKafkaWire": "kafka_wire",
    "AsyncKafkaFaults": "kafka_faults",
}
"""The variables that have a class in the program."""


def attributes(name: str) -> set[str]:
    """Returns the public attributes of a class of the public interface."""
    cluster = odradek.Cluster()
    if name.endswith("KafkaFaults"):
        return set(vars(getattr(plugin, name)(cluster if name == "KafkaFaults" else cluster._cluster)))
    kind = getattr(odradek, name, None) or getattr(plugin, name)
    return {each for each, _ in inspect.getmembers(kind) if not each.startswith("_")}


@pytest.mark.parametrize(("name", "variable"), VARIABLES.items())
def test_program_uses_every_attribute(name: str, variable: str) -> None:
    used = set(re.findall(rf"\b{re.escape(variable)}\.(\w+)", SOURCE)) | ({"load"} if f"{name}.load(" in SOURCE else set())
    assert not attributes(name) - used


def test_program_uses_every_exported_name() -> None:
    names = {*odradek.__all__, *odradek.plugin.__all__}
    assert not [name for name in sorted(names) if len(re.findall(rf"\b{name}\b", SOURCE)) < 2]
    for module in (odradek, odradek.plugin):
        assert all(getattr(module, name) is not None for name in module.__all__)


@pytest.mark.slow
def test_pyright_accepts_the_program(tmp_path: Path) -> None:
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed; the extra dev has it")
    shutil.copy(PROGRAM, tmp_path)
    config = {"extraPaths": [str(ROOT / ".dev")], "typeCheckingMode": "strict", "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--project", str(tmp_path), "--pythonpath", sys.executable], capture_output=True, text=True
    )
    if "npm" in done.stderr and "0 errors" not in done.stdout:
        pytest.skip(f"pyright cannot be downloaded: {done.stderr}")
    assert done.returncode == 0, done.stdout + done.stderr
