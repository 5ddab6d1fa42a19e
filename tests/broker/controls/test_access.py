"""Describing ACLs and users, none of whose secrets may appear."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._scram import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from odradek import Cluster
from odradek.broker.controls.access import UserInfo
from odradek.broker.controls.interface.results import json_of

pytestmark = [pytest.mark.sockets, pytest.mark.clients]

ALL = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


def test_cluster_without_security_has_no_acls_and_users() -> None:
    with Cluster(nodes=1) as cluster:
        assert (cluster.acls(), cluster.users()) == ([], [])


def test_acls_are_described_in_the_terms_of_kafka() -> None:
    acls = ["User:alice:allow:read,describe:topic:orders", "User:*:deny:write:topic:pay*", "User:root:allow:all:cluster"]
    with Cluster(nodes=1, users={"alice": "secret", "root": "hidden"}, acls=acls) as cluster:
        described = [
            f"{each.principal} {each.permission} {each.operation} {each.resource_type} {each.pattern_type} {each.resource_name} {each.host}"
            for each in cluster.acls()
        ]
    assert described == [
        "User:alice ALLOW READ TOPIC LITERAL orders *",
        "User:alice ALLOW DESCRIBE TOPIC LITERAL orders *",
        "User:* DENY WRITE TOPIC PREFIXED pay *",
        "User:root ALLOW ALL CLUSTER LITERAL kafka-cluster *",
    ]


def test_users_have_their_mechanisms_but_no_secrets() -> None:
    settings = {"super.users": "User:alice;User:root", "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    with Cluster(nodes=2, users={"alice": "wonderland-1865"}, settings=settings) as cluster:
        credentials = {"sasl.username": "alice", "sasl.password": "wonderland-1865"}
        admin = AdminClient({
            "bootstrap.servers": cluster.bootstrap_servers, "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", **credentials
        })  # fmt: skip
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        for future in admin.alter_user_scram_credentials([UserScramCredentialUpsertion("bob", info, b"builder-1999")]).values():
            future.result(30)
        users = cluster.users()
        assert users == [UserInfo("alice", ALL, True), UserInfo("bob", ["SCRAM-SHA-512"], False), UserInfo("root", [], True)]
        assert not any(secret in json_of(users) for secret in ("wonderland", "builder"))


def test_users_of_a_listener_setting_are_listed() -> None:
    settings = {
        "listeners": "SASL://127.0.0.1:0",
        "listener.security.protocol.map": "SASL:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.plain.sasl.jaas.config": (
            'org.apache.kafka.common.security.plain.PlainLoginModule required user_carol="looking-glass";'
        ),
    }
    with Cluster(nodes=1, settings=settings) as cluster:
        assert cluster.users() == [UserInfo("carol", ["PLAIN"], False)]
