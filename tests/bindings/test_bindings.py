"""The packages in bindings/ for Java, Go and Node pass their own tests, and so do services that use them.

Beside the test of each service stands one that is made of the listing of controls in docs/java.md, docs/go.md and docs/node.md.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

import odradek
from tests.bindings import building
from tests.bindings.building import BINDINGS, EXAMPLES, MAVEN, SERVICES, NotDownloadedError, copy_beside_package, copy_maven_projects
from tests.bindings.tools import LOST_RESPONSE, explore
from tests.documentation.listings import listings

JAVA_TESTS, GO_TESTS = 13, 10
JAVA_EXAMPLES = ("spring_boot", "kafka_streams")
OTHER_POMS = (EXAMPLES / "quarkus/pom.xml", EXAMPLES / "micronaut/pom.xml", BINDINGS.parent / "tests/bindings/parallel/pom.xml")
NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"
JAVA_LISTING = """\
import io.github.odradekkafka.*;
import java.time.Duration;
import org.junit.jupiter.api.Test;

@OdradekTest(topics = "orders:1")
class ListingTest {
    @Test
    void listing(Odradek kafka) {
        %s
    }
}
"""
GO_LISTING = """\
package orders

import (
	"testing"
	"time"

	odradek "github.com/odradek-kafka/odradek/bindings/go"
)

func TestListing(t *testing.T) {
	kafka := odradek.Start(t, odradek.Topic("orders", 1))
	%s
}
"""
NODE_LISTING = """\
import { test } from "node:test";
import { odradek } from "odradek";

test("listing", async (t) => {
  const kafka = await odradek({ topics: { orders: 1 } }, t);
  %s
});
"""

pytestmark = [pytest.mark.sockets, pytest.mark.clients, pytest.mark.slow]


def run(command: list[str], folder: Path) -> str:
    """Returns the output of tests that start this odradek. Skips the test if a library cannot be downloaded."""
    try:
        return building.run(command, folder)
    except NotDownloadedError as reason:
        pytest.skip(str(reason))


def assert_survival(command: str, folder: Path) -> None:
    """Fails unless the test of a service, which starts a cluster of its own elsewhere, passes when the response to a write is lost."""
    assert explore(command, folder, "--only", LOST_RESPONSE).endswith(": 1 passed, 0 failed, 0 not reached")


def listing_of_controls(page: str) -> str:
    """Returns the listing of a page that takes a snapshot, among other controls."""
    (found,) = [each.text for each in listings(page) if "snapshot()" in each.text.lower()]
    return found


def test_java_package_and_a_service_that_uses_it_pass(tmp_path: Path) -> None:
    if reason := building.missing_for_java():
        pytest.skip(reason)
    copy_maven_projects(tmp_path, {"service": SERVICES / "java", **{name: EXAMPLES / name for name in JAVA_EXAMPLES}})
    (tmp_path / "service/src/test/java/ListingTest.java").write_text(JAVA_LISTING % listing_of_controls("docs/java.md"))
    output = run([*MAVEN, "test"], tmp_path)
    counts = re.findall(r"^\[INFO\] Tests run: (\d+), Failures: 0, Errors: 0, Skipped: 0$", output, re.MULTILINE)
    assert counts == [str(JAVA_TESTS), "3", "2", "1"], output


def test_go_module_and_a_service_that_uses_it_pass(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    assert run(["gofmt", "-l", "."], BINDINGS / "go") == ""
    assert run(["go", "list", "-m", "all"], BINDINGS / "go") == "github.com/odradek-kafka/odradek/bindings/go\n"
    output = run(["go", "test", "-count=1", "-v", "."], BINDINGS / "go")
    assert len(re.findall(r"^--- PASS: Test", output, re.MULTILINE)) == GO_TESTS, output
    service = copy_beside_package(tmp_path, BINDINGS / "go", SERVICES / "go")
    (service / "listing_test.go").write_text(GO_LISTING % listing_of_controls("docs/go.md"))
    assert run(["go", "test", "-count=1", "-v", "."], service).count("--- PASS: Test") == 3
    assert_survival("go test -count=1 -run TestOrderReachesTheShop .", service)


def test_node_package_and_a_service_that_uses_it_pass(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("Node is not installed")
    service = copy_beside_package(tmp_path, BINDINGS / "node", SERVICES / "node")
    (service / "listing.test.mjs").write_text(NODE_LISTING % listing_of_controls("docs/node.md"))
    run(["npm", "install", "--no-audit", "--no-fund"], service)
    assert "# pass 3\n# fail 0" in run(["npm", "test"], service)
    assert_survival("node --test --test-name-pattern=reaches orders.test.mjs", service)
    assert re.search(r"# tests (\d+)\n# suites 0\n# pass \1\n", run(["npm", "test"], tmp_path / "bindings/node"))


@pytest.mark.parametrize(
    ("page", "file", "commands"),
    [
        ("docs/rust.md", "shop.rs", [["rustc", "--edition", "2021", "--test", "-D", "warnings", "shop.rs"], ["./shop"]]),
        ("docs/ruby.md", "shop_test.rb", [["ruby", "shop_test.rb"]]),
    ],
)
def test_page_of_a_language_without_a_package_passes(page: str, file: str, commands: list[list[str]], tmp_path: Path) -> None:
    if shutil.which(commands[0][0]) is None:
        pytest.skip(f"{commands[0][0]} is not installed")
    (text,) = [each.text for each in listings(page) if each.file == file]
    (tmp_path / file).write_text(text)
    output = "".join(run(command, tmp_path) for command in commands)
    assert re.search(r"test result: ok. 1 passed|1 runs, 2 assertions, 0 failures, 0 errors", output), output


def test_packages_have_the_version_of_odradek() -> None:
    own = [BINDINGS / "java/pom.xml", SERVICES / "java/pom.xml", *(EXAMPLES / name / "pom.xml" for name in JAVA_EXAMPLES)]
    for pom in (*own, *OTHER_POMS):
        parts = ElementTree.parse(pom).iter()
        versions = {each.findtext(f"{NAMESPACE}artifactId"): each.findtext(f"{NAMESPACE}version") for each in parts}
        assert versions["odradek-junit5"] == odradek.__version__
    package = json.loads((BINDINGS / "node/package.json").read_text())
    assert package["version"] == odradek.__version__
    assert not package.keys() & {"dependencies", "peerDependencies"}
    code = {path.name for ending in ("js", "ts") for path in (BINDINGS / "node").glob(f"*.{ending}")}
    assert set(package["files"]) == code - {"odradek.test.js"}
