from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from odradek.broker.cluster.quotas import entity_of
from odradek.broker.durability.metadata_changes import _key, _removal
from odradek.broker.security.acls import Acl, Operation, PatternType, Permission, ResourceType
from odradek.broker.security.scram_credentials import ScramCredential
from odradek.protocol.stored import metadata_records as stored_records

from .kept_cluster import NOW_MS, KeptCluster

ACLS_ACT = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
ACL = Acl(ResourceType.TOPIC, "t", PatternType.LITERAL, "User:alice", "*", Operation.READ, Permission.ALLOW)


def changed(stored: KeptCluster) -> None:
    """Writes what handlers have changed."""
    stored.cluster.metadata_log.add()
    assert stored.shadow.sync()


def again(stored: KeptCluster) -> KeptCluster:
    stored.kill()
    return KeptCluster(stored.directory.path, settings=ACLS_ACT)


def test_accounts_settings_and_quotas_are_kept_and_removed(tmp_path: Path) -> None:
    stored = KeptCluster(tmp_path / "data", settings=ACLS_ACT)
    cluster, user = stored.cluster, entity_of({"user": "alice"})
    assert cluster.authorizer is not None
    cluster.authorizer.add(ACL)
    cluster.accounts.scram_credentials.set("alice", 1, ScramCredential(4096, b"salt", b"stored", b"server"))
    cluster.alter_quotas(user, {"producer_byte_rate": 1000.0}, validate_only=False)
    cluster.alter_brokers(None, dict(cluster.config.cluster_wide) | {"log.retention.ms": "5000"})
    cluster.alter_group("g", {"consumer.session.timeout.ms": "50000"})
    changed(stored)

    second = again(stored)
    cluster = second.cluster
    assert cluster.authorizer is not None
    assert list(cluster.authorizer) == [ACL]
    assert cluster.accounts.scram_credentials.of("alice")[1].salt == b"salt"
    assert cluster.config.cluster_wide["log.retention.ms"] == "5000"
    assert cluster.group_configs["g"].overrides == {"consumer.session.timeout.ms": "50000"}
    assert len(list(second.shadow._metadata)) > 4
    cluster.authorizer.remove([ACL])
    cluster.accounts.scram_credentials.delete("alice", 1)
    cluster.alter_quotas(user, {"producer_byte_rate": None}, validate_only=False)
    cluster.alter_group("g", {})
    changed(second)

    third = again(second).cluster
    assert third.authorizer is not None
    assert list(third.authorizer) == []
    assert not third.accounts.scram_credentials.of("alice")
    assert not third.quotas
    assert third.group_configs == {}


def test_delegation_tokens_are_kept_until_they_are_removed(tmp_path: Path) -> None:
    def started() -> KeptCluster:
        return KeptCluster(tmp_path / "data", settings={"delegation.token.secret.key": "key of tokens"})

    first = started()
    removed, renewed = (first.cluster.accounts.tokens.create("User:alice", "User:bob", ["User:carol"], 5000 + n) for n in range(2))
    assert first.shadow.sync()
    first.kill()

    second = started()
    assert list(second.cluster.accounts.tokens) == [
        replace(each, credentials=second.cluster.accounts.tokens._tokens[each.token_id].credentials) for each in (removed, renewed)
    ]
    assert second.cluster.accounts.tokens.expire(removed.hmac, "User:alice", -1)
    assert second.cluster.accounts.tokens.renew(renewed.hmac, "User:carol", 100) == NOW_MS + 100
    assert second.shadow.sync()
    second.kill()

    assert [(each.token_id, each.expiry_ms) for each in started().cluster.accounts.tokens] == [(renewed.token_id, NOW_MS + 100)]


def test_unchanged_acl_keeps_its_id(tmp_path: Path) -> None:
    stored = KeptCluster(tmp_path / "data", settings=ACLS_ACT)
    assert stored.cluster.authorizer is not None
    stored.cluster.authorizer.add(ACL)
    changed(stored)
    size = stored.shadow._writer.size
    changed(stored)
    assert stored.shadow._writer.size == size


def test_producer_ids_are_never_given_out_again(tmp_path: Path) -> None:
    stored = KeptCluster(tmp_path / "data")
    first = stored.cluster.producer_ids.generate()
    stored.shadow.sync()
    assert again(stored).cluster.producer_ids.generate() > first


def test_level_of_a_feature_can_be_removed() -> None:
    record = _removal(stored_records.FeatureLevelRecord(name="f", feature_level=2))
    assert record == stored_records.FeatureLevelRecord(name="f", feature_level=0)


def test_other_records_are_refused() -> None:
    record = stored_records.RemoveTopicRecord(topic_id=bytes(16))
    with pytest.raises(TypeError):
        _key(record)
    with pytest.raises(TypeError):
        _removal(record)
