"""The listings that no test can run here, each with its reason. An entry that matches no listing fails a test."""

from __future__ import annotations

from typing import NamedTuple

from .listings import Listing

NO_DOCKER = "needs a Docker engine"
NO_DOTNET = "needs the .NET SDK"
OTHER_MACHINES = "needs a Spark cluster of several machines; tests/spark/test_deployment.py runs the recipe on a local one"
DOWNLOADS = "downloads packages; tests/tidy/test_wheel.py installs the wheel instead"
KAFKA_PROGRAMS = "needs the programs of Apache Kafka; tests/clients/test_kafka_programs.py runs them"


class NotRun(NamedTuple):
    """A listing of a page that contains this text."""

    page: str
    text: str
    reason: str

    def covers(self, listing: Listing) -> bool:
        return listing.page == self.page and self.text in listing.text


OTHER_TOOL = "a test with another tool, which the page compares with one of odradek"
SHOWN_IN_PART = "a part of a class; tests/bindings runs the whole one in examples/"

NOT_RUN = (
    NotRun("README.md", "make run", "creates .venv; tests/tidy/test_repository.py compares the command"),
    NotRun("README.md", "make test", "runs these tests"),
    NotRun("docs/administration.md", "kafka-configs.sh", KAFKA_PROGRAMS),
    NotRun("docs/administration.md", "kafka-client-metrics.sh", KAFKA_PROGRAMS),
    NotRun("docs/exploring.md", "kafka explore: test_orders.py", "output of pytest; tests/plugin/test_explore.py finds the same lines"),
    NotRun("docs/exploring.md", "go build -o shop", "needs Go; tests/explored/test_corpus.py explores the program"),
    NotRun("docs/exploring.md", "mvn -q test", "runs a project's own tests; tests/broker/commands/test_explore.py runs commands"),
    NotRun("docs/five-minutes.md", "pip install", DOWNLOADS),
    NotRun("docs/dotnet.md", "IClassFixture", NO_DOTNET),
    NotRun("docs/migration.md", "@EmbeddedKafka", OTHER_TOOL),
    NotRun("docs/migration.md", "@OdradekTest", SHOWN_IN_PART),
    NotRun("docs/migration.md", "@Testcontainers", OTHER_TOOL),
    NotRun("docs/migration.md", "@RegisterExtension", "the same field as in docs/java.md; tests/bindings runs tests with such fields"),
    NotRun("docs/migration.md", "kfake.NewCluster", OTHER_TOOL),
    NotRun("docs/migration.md", "odradek.Start", "two lines of the recipes in Go, which tests/recipes runs"),
    NotRun("docs/recipes/index.md", "pip install", "downloads packages; tests/recipes runs each recipe"),
    NotRun("docs/simulation.md", "import simloom", "needs simloom, which Python 3.11 cannot install"),
    NotRun("docs/spark.md", "pip install 'odradek[spark] @", DOWNLOADS),
    NotRun("docs/spark.md", "pip wheel", OTHER_MACHINES),
    NotRun("docs/spark.md", "environment/bin/pip install", OTHER_MACHINES),
    NotRun("docs/spark.md", "addPyFile", OTHER_MACHINES),
    NotRun("docs/spark.md", "sc://server:15002", OTHER_MACHINES),
    NotRun("docs/spark.md", "addArtifacts", OTHER_MACHINES),
    NotRun("docs/testing-a-service.md", "docker compose", NO_DOCKER),
    NotRun("docs/testing-a-service.md", "using Confluent.Kafka", NO_DOTNET),
    NotRun("docs/wire.md", "✗ NOT_LEADER_OR_FOLLOWER", "a diagram of the program before it; tests/broker/wire/diagrams draws such ones"),
)
