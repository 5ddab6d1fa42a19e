"""Runs an installation of odradek as a container engine would run the image, in Linux namespaces, and prints the answers that clients get.

`run` starts this module as root of new user, mount and network namespaces, so that nothing outside changes. Inside, the file system is
read-only, the only network is a loopback interface, the names of the hosts lead there, and the server is process 1 of a namespace of its
own, as the user of the image and without capabilities.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
NAMESPACES = ["unshare", "--map-root-user", "--mount", "--net"]
TEMPORARY = "/mnt"
"""A folder that exists on every Linux, and in which a test keeps nothing."""
PROCESS = ["--pid", "--fork", "--kill-child"]


class Answers(NamedTuple):
    """The findings in a container, and the answers at each address.

    `write_error` is the error of an attempt to write a file. `brokers` are the advertised addresses of all brokers by their ids, and
    `settings` those of one broker.
    """

    pid: int
    user: int
    capabilities: int
    write_error: str
    health_check_code: int
    brokers: dict[str, dict[str, str]]
    settings: dict[str, dict[str, str]]
    exit_code: int
    stop_s: float


def missing() -> str | None:
    """Returns why containers cannot be imitated on this machine, None if they can be."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return "this system has no unshare or no ip"
    nested = [*NAMESPACES, "unshare", "--user", "--map-user=65532", *PROCESS, "true"]
    return "this system does not let users create namespaces" if subprocess.run(nested, capture_output=True).returncode else None


def run(
    venv: Path,
    hosts: Path,
    user: str,
    command: Sequence[str],
    check: Sequence[str],
    environ: Mapping[str, str],
    addresses: Sequence[str],
    *,
    tmpfs: bool = False,
) -> Answers:
    """Runs a command of an installation as a container, and asks it at each address. `hosts` is a file for the names of the hosts.

    With `tmpfs`, the folder for temporary files is in memory and can be written to, as with `docker run --tmpfs /tmp`. A command with
    `--tls auto` is asked with the CA that it prints.
    """
    names = {address.rpartition(":")[0] for address in addresses}
    ips = [name for name in names if name[0].isdigit() and not name.startswith("127.")]
    hosts.write_text(f"127.0.0.1 localhost {' '.join(sorted(names - set(ips)))}\n")
    order = {
        "venv": str(venv),
        "hosts": str(hosts),
        "user": user,
        "command": command,
        "check": check,
        "environ": dict(environ),
        "addresses": addresses,
        "ips": ips,
        "tmpfs": tmpfs,
    }
    driver = [*NAMESPACES, sys.executable, "-m", __name__, json.dumps(order)]
    path = os.pathsep.join([str(ROOT / ".dev"), str(ROOT)])
    done = subprocess.run(
        driver, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return Answers(**json.loads(done.stdout))


def _prepare(order: Mapping[str, Any]) -> str:
    """Makes the file system read-only, with the file of hosts, and starts the network. Returns the error of a write."""
    for step in (
        ["ip", "link", "set", "lo", "up"],
        *(["ip", "address", "add", f"{ip}/32", "dev", "lo"] for ip in order["ips"]),
        ["mount", "--bind", order["hosts"], "/etc/hosts"],
        ["mount", "--bind", order["venv"], order["venv"]],
        ["mount", "-o", "remount,bind,ro", order["venv"]],
        ["mount", "-o", "remount,bind,ro", "/"],
    ):
        subprocess.run(step, check=True, stdout=sys.stderr)
    if order["tmpfs"]:
        # /tmp itself may contain the installation.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", TEMPORARY], check=True, stdout=sys.stderr)
    try:
        Path(order["venv"], "written").touch()
    except OSError as error:
        return str(error.strerror)
    return "none"


def _in_container(order: Mapping[str, Any], command: Sequence[str], *options: str) -> list[str]:
    user, _, group = order["user"].partition(":")
    return ["unshare", "--user", f"--map-user={user}", f"--map-group={group}", *options, *command]


def _identity(pid: int) -> tuple[int, int, int]:
    """Returns the process id, the user and the effective capabilities of a process as it sees them."""
    process = Path(f"/proc/{pid}")
    status = {name: value for name, _, value in (line.partition(":") for line in (process / "status").read_text().splitlines())}
    return int(status["NSpid"].split()[-1]), int((process / "uid_map").read_text().split()[0]), int(status["CapEff"], 16)


def _ask(address: str, security: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the brokers and some settings of the first one, as a client at this address sees them."""
    from confluent_kafka.admin import AdminClient, ConfigResource  # type: ignore[attr-defined]

    admin = AdminClient({"bootstrap.servers": address, **security})
    brokers = {str(each.id): f"{each.host}:{each.port}" for each in admin.list_topics(timeout=PATIENCE_S).brokers.values()}
    resource = ConfigResource(ConfigResource.Type.BROKER, min(brokers))
    described = admin.describe_configs([resource])[resource].result(PATIENCE_S)
    return brokers, {name: entry.value for name, entry in described.items() if entry.value is not None}


def _drive(order: Mapping[str, Any]) -> Answers:
    write_error = _prepare(order)
    environ = {"PATH": f"{order['venv']}/bin:/usr/bin:/bin", "TMPDIR": TEMPORARY, **order["environ"]}
    server = subprocess.Popen(
        _in_container(order, order["command"], *PROCESS), env=environ, cwd="/", stdout=subprocess.PIPE, stderr=sys.stderr, text=True
    )
    assert server.stdout is not None
    assert server.stdout.readline().startswith("bootstrap.servers=")  # which appears when all listeners accept
    security: dict[str, str] = {}
    if "--tls" in order["command"]:
        name, _, ca = server.stdout.readline().strip().partition("=")
        security = {"security.protocol": "SSL", name: ca}
    (child,) = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    identity = _identity(int(child))
    check = subprocess.run(_in_container(order, order["check"]), env=environ, stdout=sys.stderr, check=False)
    asked = {address: _ask(address, security) for address in order["addresses"]}
    started_s = time.monotonic()
    os.kill(int(child), signal.SIGTERM)
    code = server.wait(PATIENCE_S)
    return Answers(
        *identity,
        write_error,
        check.returncode,
        {address: brokers for address, (brokers, _) in asked.items()},
        {address: settings for address, (_, settings) in asked.items()},
        code,
        time.monotonic() - started_s,
    )


if __name__ == "__main__":
    print(json.dumps(_drive(json.loads(sys.argv[1]))._asdict()))  # noqa: T201
