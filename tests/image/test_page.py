"""The listings of docs/containers.md: commands of odradek are parsed, variables configure a cluster, and YAML fits its schemas."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from odradek.broker.cli import _parser
from odradek.broker.commands.serve import cluster_config, topic_specs
from tests.image.dockerfile import ROOT, read_image
from tests.image.schemas import fits

TEXT = (ROOT / "docs" / "containers.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"^```shell\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL) for line in block.replace("\\\n", "").splitlines()
]
YAML = re.findall(r"^```yaml ([\w-]+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def check_container(arguments: list[str], environ: dict[str, str], published: set[int]) -> None:
    """Parses the arguments of the image, and checks that every advertised port for this machine is published."""
    image = read_image()
    options = _parser().parse_args(arguments or image.command)
    cluster = cluster_config(options, image.environment | environ)
    topic_specs(options, environ, cluster)
    assert not cluster.ignored
    advertised = [each.advertised.rpartition(":") for node in cluster.nodes for each in node.listeners]
    assert {int(port) for host, _, port in advertised if host in ("127.0.0.1", "localhost")} == published


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("docker run")])
def test_docker_run_of_page_publishes_its_ports(line: str) -> None:
    before, image, after = re.sub("--name odradek ", "", line).partition(" odradek")
    assert image
    environ = dict(variable.split("=", 1) for variable in re.findall(r"-e (\S+)", before))
    published = re.findall(r"-p 127\.0\.0\.1:(\d+):(\d+)", before)
    assert len(published) == before.count(" -p ") and all(outside == inside for outside, inside in published)
    ports = {int(outside) for outside, _ in published}
    control = re.search(r"--control 0\.0\.0\.0:(\d+)", after)
    check_container(shlex.split(after), environ, ports - {int(control[1])} if control else ports)


def test_docker_commands_of_page_are_known() -> None:
    assert {" ".join(line.split()[:2]) for line in COMMANDS} == {"docker build", "docker run", "docker exec", "docker buildx"}
    assert len(COMMANDS) == 8


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "text"), YAML, ids=[f"{number}-{schema}" for number, (schema, _) in enumerate(YAML)])
def test_yaml_of_page_fits_its_schema(schema: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / ".gitlab-ci.yml"
    file.write_text(text)
    code, output = fits({"compose": "compose-spec"}.get(schema, schema), file)
    assert code == 0, output


def services(schema: str) -> list[Any]:
    return [yaml.safe_load(text) for name, text in YAML if name == schema]


def test_compose_of_page_is_reachable_from_both_networks() -> None:
    (compose,) = services("compose")
    service = compose["services"]["odradek"]
    check_container(service["command"], service["environment"], {9092})
    assert compose["services"]["orders"]["environment"]["BOOTSTRAP_SERVERS"] in service["environment"]["KAFKA_ADVERTISED_LISTENERS"]


def test_odradek_command_of_workflow_is_parsed() -> None:
    runs = [step["run"] for workflow in services("github-workflows") for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    (line,) = [run for run in runs if run.startswith("odradek")]
    options = _parser().parse_args(shlex.split(line)[1:])
    assert options.exec == "mvn --batch-mode test"


def test_gitlab_service_advertises_its_alias() -> None:
    (pipeline,) = services("gitlab-ci")
    (service,) = pipeline["test"]["services"]
    cluster = cluster_config(_parser().parse_args(read_image().command), read_image().environment | service["variables"])
    assert [each.advertised for node in cluster.nodes for each in node.listeners] == [pipeline["test"]["variables"]["BOOTSTRAP_SERVERS"]]
