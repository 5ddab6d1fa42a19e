from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from odradek.protocol.stored import metadata_records as stored
from odradek.storage.directories.metadata_image import BROKER_CONFIG, TOPIC_CONFIG, MetadataImage
from odradek.storage.directories.metadata_log import read_metadata
from odradek.storage.directories.names import METADATA_FOLDER
from tests.storage.directories.recorded_directories import seen_by_clients, unpack

ID, OTHER = bytes(16), bytes(range(16))
TOPIC = stored.TopicRecord(name="orders", topic_id=ID)


def partition(index: int = 0, **fields: Any) -> stored.PartitionRecord:
    given: dict[str, Any] = {
        "replicas": [1, 2],
        "isr": [1, 2],
        "removing_replicas": [],
        "adding_replicas": [],
        "leader": 1,
        "leader_epoch": 4,
    }
    return stored.PartitionRecord(partition_id=index, topic_id=ID, partition_epoch=0, **{**given, **fields})


@pytest.mark.parametrize("name", ["kafka-4.3.1", "kafka-4.3.1-killed", "kafka-3.9.1"])
def test_recorded_metadata_has_the_topics_that_clients_saw(name: str, tmp_path: Path) -> None:
    image = MetadataImage(read_metadata(unpack(name, tmp_path) / METADATA_FOLDER))
    topics = {topic.name: topic for topic in image.topics.values()}

    for topic, facts in seen_by_clients(name)["topics"].items():
        assert dict(image.configs_of(TOPIC_CONFIG, topic)) == facts["configs"]
        assert sorted(topics[topic].partitions) == sorted({row[0] for row in facts["all"]})
    assert image.brokers[1].rack is None
    assert image.features["metadata.version"] >= 20
    assert image.next_producer_id > 0


def test_recorded_accounts_are_read(tmp_path: Path) -> None:
    image = MetadataImage(read_metadata(unpack("kafka-4.3.1", tmp_path) / METADATA_FOLDER))

    (acl,) = image.acls.values()
    (credential,) = image.credentials.values()
    assert (acl.resource_name, acl.principal) == ("orders", "User:alice")
    assert (credential.name, credential.mechanism, credential.iterations, credential.salt) == ("alice", 1, 4096, b"salt")


def test_changes_of_a_partition_replace_what_they_name() -> None:
    change = stored.PartitionChangeRecord(partition_id=0, topic_id=ID, isr=[2], leader=2)
    image = MetadataImage([TOPIC, partition(), change, stored.PartitionChangeRecord(partition_id=0, topic_id=ID, replicas=[2, 3])])

    changed = image.topics[ID].partitions[0]
    assert (changed.leader, changed.leader_epoch, changed.isr, changed.replicas, changed.partition_epoch) == (2, 5, [2], [2, 3], 2)


def test_changes_of_unknown_partitions_are_ignored() -> None:
    changes = [stored.PartitionChangeRecord(partition_id=9, topic_id=ID), stored.PartitionChangeRecord(partition_id=0, topic_id=OTHER)]
    image = MetadataImage(
        [TOPIC, partition(), *changes, partition().__class__(**{**vars(partition()), "topic_id": OTHER}), stored.NoOpRecord()]
    )

    assert list(image.topics) == [ID]
    assert image.topics[ID].partitions[0].leader_epoch == 4


def test_removed_topics_lose_their_settings() -> None:
    config = stored.ConfigRecord(resource_type=TOPIC_CONFIG, resource_name="orders", name="retention.ms", value="1")
    image = MetadataImage([TOPIC, config, stored.RemoveTopicRecord(topic_id=ID), stored.RemoveTopicRecord(topic_id=OTHER)])

    assert (image.topics, dict(image.configs_of(TOPIC_CONFIG, "orders"))) == ({}, {})


def test_settings_are_set_and_removed() -> None:
    records = [
        stored.ConfigRecord(resource_type=BROKER_CONFIG, resource_name="", name=name, value=value)
        for name, value in (("a", "1"), ("b", "2"), ("a", None), ("c", None))
    ]

    assert dict(MetadataImage(records).configs_of(BROKER_CONFIG, "")) == {"b": "2"}


def test_quotas_are_set_and_removed() -> None:
    entity = [stored.QuotaEntity(entity_type="user", entity_name=None)]
    records = [
        stored.ClientQuotaRecord(entity=entity, key=key, value=value, remove=remove)
        for key, value, remove in (("a", 1.0, False), ("b", 2.0, False), ("a", 0.0, True))
    ]

    assert MetadataImage(records).quotas == {(("user", None),): {"b": 2.0}}


def test_accounts_and_brokers_are_removed() -> None:
    acl: dict[str, Any] = {
        "resource_type": 2,
        "resource_name": "orders",
        "pattern_type": 3,
        "principal": "User:a",
        "host": "*",
        "operation": 3,
    }
    credential: dict[str, Any] = {"salt": b"", "stored_key": b"", "server_key": b"", "iterations": 4096}
    image = MetadataImage(
        [
            stored.AccessControlEntryRecord(id=ID, permission_type=3, **acl),
            stored.RemoveAccessControlEntryRecord(id=ID),
            stored.UserScramCredentialRecord(name="a", mechanism=1, **credential),
            stored.RemoveUserScramCredentialRecord(name="a", mechanism=1),
            stored.RegisterBrokerRecord(broker_id=1, incarnation_id=ID, broker_epoch=0, end_points=[], features=[], rack="r"),
            stored.UnregisterBrokerRecord(broker_id=1, broker_epoch=0),
        ]
    )

    assert (image.acls, image.credentials, image.brokers) == ({}, {}, {})


@pytest.mark.parametrize(("name", "left"), [("", None), ("orders", None), ("others", [1])])
def test_eligible_leaders_are_cleared(name: str, left: list[int] | None) -> None:
    image = MetadataImage([TOPIC, partition(eligible_leader_replicas=[1]), stored.ClearElrRecord(topic_name=name)])

    assert image.topics[ID].partitions[0].eligible_leader_replicas == left


def test_delegation_tokens_are_renewed_and_removed() -> None:
    given: dict[str, Any] = {"owner": "User:a", "requester": "User:b", "renewers": [], "issue_timestamp": 1, "max_timestamp": 9}
    tokens = [
        stored.DelegationTokenRecord(**given, expiration_timestamp=expiry, token_id=token_id)
        for token_id, expiry in (("one", 4), ("two", 5), ("two", 7))
    ]
    removed = [stored.RemoveDelegationTokenRecord(token_id=token_id) for token_id in ("one", "unknown")]

    image = MetadataImage([*tokens, *removed])

    assert {token_id: token.expiration_timestamp for token_id, token in image.tokens.items()} == {"two": 7}
