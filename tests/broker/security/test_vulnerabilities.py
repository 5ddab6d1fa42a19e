"""Known vulnerabilities of brokers (CVE numbers) as tests, and the places where a secret could appear.

Others are tested beside their code: CVE-2022-34917 in tests/broker/connections/test_authentication.py, CVE-2017-12610 and CVE-2024-56128 in
test_plain.py and test_scram.py, CVE-2023-34455 in tests/protocol/batches/test_compression.py.
"""

from __future__ import annotations

import ast
import logging
from pathlib import Path

import pytest

from odradek.broker.connections.connection import OUTPUT_LIMIT_BYTES
from odradek.broker.security.startup import Security
from odradek.broker.short_repr import short_repr
from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.alter_user_scram_credentials import ScramCredentialUpsertion
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS, DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from tests.broker.harness import Client, World, a_batch, produce_request
from tests.broker.sasl_client import plain
from tests.broker.tls.certificate_files import certificate, inline, prefixed

BROKER_FOLDER = Path(__file__).parents[3] / "broker"
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
SECRETS = ("alice-secret", "bob-secret", "token-secret", "BEGIN PRIVATE KEY", "store-secret")
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SETTINGS = {
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{MODULE} required user_bob="bob-secret";',
    "delegation.token.secret.key": "token-secret",
    "ssl.keystore.password": "store-secret",
    **prefixed(inline(certificate())),
}


@pytest.fixture
def world() -> World:
    return World(nodes=1, settings=SETTINGS, security=Security(users={"alice": "alice-secret"}))


def alter(client: Client, name: str, value: str) -> IncrementalAlterConfigsResponse:
    configs = [AlterableConfig(name=name, config_operation=0, value=value)]
    resource = AlterConfigsResource(resource_type=4, resource_name="1", configs=configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    response: IncrementalAlterConfigsResponse = client.call(INCREMENTAL_ALTER_CONFIGS, 1, request)
    return response


def test_transactional_batch_needs_the_right_for_its_transaction() -> None:
    """CVE-2018-17196: the request says that it is not transactional, but its batch is."""
    acls = ["User:alice:allow:write:topic:t"]
    world = World(nodes=1, security=Security(users={"alice": "alice-secret"}, acls=acls))
    world.cluster.topics.create("t", 1, 1)
    client = world.client()
    plain(client, password="alice-secret")
    batch = a_batch(b"v", producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    partition = client.call(PRODUCE, 9, produce_request("t", batch)).responses[0].partition_responses[0]
    assert partition.error_code != ErrorCode.NONE
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 0


def test_fetch_of_a_client_as_a_replica_changes_nothing() -> None:
    """CVE-2018-1288: a client sends the id of a broker as its replica id."""
    world = World(nodes=2)
    world.cluster.topics.create("t", 1, 2)
    partition = world.cluster.topics["t"].partitions[0]
    before = (list(partition.isr), partition.high_watermark)
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    request = FetchRequest(
        replica_id=partition.replicas[1], max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic="t", partitions=[wanted])]
    )
    world.leader_of("t").call(FETCH, 12, request)
    assert (list(partition.isr), partition.high_watermark) == before


def test_slow_reader_before_authentication_is_not_served(world: World) -> None:
    """CVE-2025-21605: the output of a client that is not authenticated must be bounded."""
    client = world.client()
    client.connection.writable = False
    frame = b"".join(encode_request(API_VERSIONS, 0, 1, "", VERSIONS))
    client.feed(frame)
    assert not client.wants_data()
    assert client.connection.output_bytes < OUTPUT_LIMIT_BYTES


@pytest.mark.parametrize("name", ["ssl.keystore.location", "ssl.truststore.location"])
def test_client_cannot_make_the_broker_read_a_file(world: World, name: str, tmp_path: Path) -> None:
    """CVE-2025-27817 and its like: the settings of all brokers may not be changed without the prefix of a listener."""
    client = world.client()
    plain(client, password="alice-secret")
    assert alter(client, name, str(tmp_path)).responses[0].error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    "module",
    [
        "com.sun.security.auth.module.JndiLoginModule",
        "com.sun.security.auth.module.LdapLoginModule",
        "javax.management.loading.MLet",
    ],
)
def test_client_cannot_name_a_login_module(world: World, module: str) -> None:
    """CVE-2023-25194, CVE-2025-27818 and CVE-2025-27819: nothing is loaded, and only Kafka's own modules are accepted."""
    client = world.client()
    plain(client, password="alice-secret")
    response = alter(client, "listener.name.sasl_plaintext.plain.sasl.jaas.config", f'{module} required user.provider.url="ldap://x";')
    assert response.responses[0].error_code == ErrorCode.INVALID_REQUEST
    assert f"use {MODULE}" in (response.responses[0].error_message or "")


def test_secrets_are_compared_in_constant_time() -> None:
    """CVE-2021-38153: a comparison of secrets uses compare_digest. The modules that verify secrets contain no other one of digests."""
    for name in ("plain.py", "scram.py"):
        source = (BROKER_FOLDER / "security" / name).read_text()
        assert "hmac.compare_digest" in source
        compared = [ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare)]
        assert not [text for text in compared if any(word in text for word in ("_digest(", "password", "stored_key", "proof =="))], compared


def test_describe_configs_shows_no_secret(world: World) -> None:
    client = world.client()
    plain(client, password="alice-secret")
    resources = [DescribeConfigsResource(resource_type=4, resource_name=name, configuration_keys=None) for name in ("1", "")]
    request = DescribeConfigsRequest(resources=resources, include_synonyms=True, include_documentation=True)
    shown = repr(client.call(DESCRIBE_CONFIGS, 4, request))
    assert "delegation.token.secret.key" in shown
    assert not [secret for secret in SECRETS if secret in shown]


def test_errors_and_logs_of_changes_contain_no_secret(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = world.client()
    plain(client, password="alice-secret")
    jaas = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
    malformed = (f'{MODULE} required user_x="alice-secret"', 'user_x="alice-secret";', "alice-secret;", f"{MODULE} required alice-secret;")
    texts = [repr(alter(client, jaas, text)) for text in malformed]
    texts.append(repr(alter(client, "sasl.jaas.config", f'{MODULE} required user_x="alice-secret";')))
    assert not [secret for secret in SECRETS if secret in caplog.text + "".join(texts)]


def test_changed_users_authenticate_from_the_next_connection_on(world: World) -> None:
    client = world.client()
    plain(client, password="alice-secret")
    jaas = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
    assert not alter(client, jaas, f'{MODULE} required user_carol="carol-secret";').responses[0].error_code
    assert plain(world.client(), "carol", "carol-secret").error_code == 0
    assert plain(world.client(), "bob", "bob-secret") is None


@pytest.mark.parametrize(
    "message",
    [
        SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret"),
        ScramCredentialUpsertion(name="alice", mechanism=1, iterations=4096, salt=b"s", salted_password=b"alice-secret"),
        AlterableConfig(name="listener.name.ssl.ssl.keystore.key", config_operation=0, value="alice-secret"),
    ],
)
def test_requests_in_the_log_contain_no_secret(message: object) -> None:
    """An internal error logs its request."""
    assert "alice-secret" not in short_repr(message)
    assert "alice-secret" not in short_repr([message])


def test_representations_of_a_cluster_contain_no_secret(world: World) -> None:
    broker = world.cluster.brokers[1]
    shown = repr([broker.sasl.get("SASL_PLAINTEXT"), world.cluster.accounts.scram_credentials.of("alice"), broker.listeners])
    assert not [secret for secret in SECRETS if secret in shown]
