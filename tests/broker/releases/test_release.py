"""A cluster that emulates an older release: served versions, and the refusal of all others. Features by release."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.broker.cluster.features import SUPPORTED
from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.releases.release import NAMES, RANGES, features_of, number_of, release_of, versions_of
from odradek.broker.security.startup import Security
from odradek.broker.snapshots.cluster import write_cluster
from odradek.protocol.batches.records import RecordBatch
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import APIS
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER, DescribeClusterRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from odradek.protocol.schema import Versions
from tests.broker.harness import START_MS, World

SOFTWARE = ApiVersionsRequest(client_software_name="test", client_software_version="1")
OLD = [name for name in NAMES if name != "4.3"]


def test_release_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no version '2.0' of Kafka to emulate; use one of 2.1, 2.2"):
        release_of("2.0")


def test_release_latest_needs_no_table() -> None:
    assert release_of("4.3") is None


@pytest.mark.parametrize("name", OLD)
def test_release_lists_its_versions(name: str) -> None:
    release = release_of(name)
    assert release is not None
    response = World(as_version=name).client().call(API_VERSIONS, 2, SOFTWARE)
    listed = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
    expected = {key: tuple(versions) for key, versions in release.versions.items() if key not in (71, 72)}
    assert listed == expected | {0: (0, expected[0][1])}  # KAFKA-18659


@pytest.mark.parametrize("name", OLD)
def test_release_versions_are_all_implemented(name: str) -> None:
    release = release_of(name)
    assert release is not None
    for key, versions in release.versions.items():
        assert APIS[key].declared.first <= versions.first <= versions.last <= APIS[key].versions.last


@pytest.mark.parametrize(("name", "contained"), [("2.1", []), ("2.3", []), ("2.4", [(18, 0, 3)]), ("3.9", [(18, 0, 4)])])
def test_api_versions_unknown_version_gets_v0(name: str, contained: list[tuple[int, int, int]]) -> None:
    """Up to 2.3 the response lists nothing, from 2.4 on it lists ApiVersions (KIP-511)."""
    client = World(as_version=name).client()
    client.send(API_VERSIONS, 4 if name != "3.9" else 5, SOFTWARE)
    answer = ApiVersionsResponse.decode(0, bytes(client.sent[8:]))
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(each.api_key, each.min_version, each.max_version) for each in answer.api_keys] == contained
    assert client.closed is None


def test_request_newer_than_the_release_closes_connection() -> None:
    client = World(as_version="2.1").client()
    assert client.call(METADATA, 7, MetadataRequest(topics=[])).controller_id == 1
    client.send(METADATA, 8, MetadataRequest(topics=[]))
    assert client.closed == "Metadata v8 is not served"


def test_request_of_an_api_that_came_later_closes_connection() -> None:
    client = World(as_version="2.7").client()
    client.send(DESCRIBE_CLUSTER, 0, DescribeClusterRequest(include_cluster_authorized_operations=False))
    assert client.closed == "DescribeCluster v0 is not served"


@pytest.mark.parametrize(("name", "levels"), [("2.8", {}), ("3.9", {"metadata.version": 21}), ("wireshark-4.0", {})])
def test_api_versions_contains_features_of_the_release(name: str, levels: dict[str, int]) -> None:
    response = World(as_version=name).client().call(API_VERSIONS, 3, SOFTWARE)
    assert {each.name: each.max_version_level for each in response.finalized_features} == levels
    assert bool(response.supported_features) == bool(levels)
    assert (response.finalized_features_epoch > 0) == bool(levels)


@pytest.mark.parametrize(("name", "epoch"), [("2.6", -1), ("2.7", 0), ("3.2", 0)])
def test_api_versions_without_features_has_an_epoch_since_2_7(name: str, epoch: int) -> None:
    response = World(as_version=name).client().call(API_VERSIONS, 3, SOFTWARE)
    assert response.finalized_features_epoch == epoch


def test_wireshark_profile_offers_what_the_dissector_knows() -> None:
    release = release_of("wireshark-4.0")
    assert release is not None
    last = {APIS[key].name: versions.last for key, versions in release.versions.items()}
    assert (last["Produce"], last["Fetch"], last["Metadata"], last["JoinGroup"], last["ListGroups"]) == (8, 11, 9, 7, 3)
    assert max(release.versions) == 47


def test_state_restored_as_another_release_keeps_fitting_levels() -> None:
    world = World(as_version="3.9")
    world.config = replace(world.config, release=release_of("3.3"))
    world.restore(write_cluster(world.cluster))
    assert world.cluster.features.levels == {"metadata.version": 7}
    world.config = replace(world.config, release=None)
    world.restore(write_cluster(world.cluster))
    assert world.cluster.features.level("metadata.version") == 7
    assert world.cluster.features.level("group.version") == 0


@pytest.mark.parametrize("name", ["2.1", "2.8", "3.9"])
def test_release_before_sasl_authenticate_v1_serves_v0_only(name: str) -> None:
    world = World(as_version=name, security=Security(users={"alice": "secret"}))
    client = world.client()
    assert not client.call(SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN")).error_code
    client.send(SASL_AUTHENTICATE, 1, SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"))
    assert (client.closed is None) == (name != "2.1")


@pytest.mark.parametrize(("name", "verifies"), [("3.5", False), ("3.6", True)])
def test_release_before_3_6_does_not_verify_transactions(name: str, verifies: bool) -> None:
    assert World(as_version=name).cluster.config.booleans["transaction.partition.verification.enable"] is verifies


@pytest.mark.parametrize(("name", "version"), [("2.1", 3), ("4.0", 3), ("4.1", 4), ("4.3", 4)])
def test_release_writes_its_version_of_commits(name: str, version: int) -> None:
    world = World(as_version=name, settings={"offsets.topic.num.partitions": "1"})
    world.cluster.topics.ensure_internal("__consumer_offsets")
    world.cluster.groups.offsets.commit("g", {("t", 0): CommittedOffset(5, -1, "", START_MS)})
    log = world.cluster.topics["__consumer_offsets"].partitions[0].log
    values = [record.value or b"" for batch in log.batches(0, log.end_offset) for record in RecordBatch(batch).records()]
    assert [int.from_bytes(value[:2]) for value in values] == [version]


def test_ranges_of_latest_release_are_the_served_ones() -> None:
    assert {key: served for key, served in versions_of((4, 3)).items() if key in APIS} == {key: api.versions for key, api in APIS.items()}


@pytest.mark.parametrize(
    ("release", "expected"),
    [("2.1", Versions(0, 7)), ("2.3", Versions(0, 7)), ("2.4", Versions(0, 8)), ("3.9", Versions(0, 11)), ("4.0", Versions(3, 12))],
)
def test_ranges_of_produce_follow_the_release(release: str, expected: Versions) -> None:
    assert versions_of(number_of(release))[0] == expected


def test_ranges_withdrawn_api_returns_when_kraft_has_it() -> None:
    create_delegation_token = 38
    assert [create_delegation_token in versions_of(release) for release in ((3, 2), (3, 3), (3, 5), (3, 6))] == [True, False, False, True]


def test_ranges_entries_are_in_ascending_order() -> None:
    for row in RANGES.values():
        releases = [number_of(entry.partition(":")[0]) for entry in row.split()]
        assert releases == sorted(set(releases))


def test_features_with_zookeeper_are_none() -> None:
    assert features_of((2, 1)) == features_of((3, 2)) == {}


def test_features_of_kraft_releases_grow() -> None:
    assert features_of((3, 3)) == {"metadata.version": (1, 7)}
    assert features_of((3, 9)) == {"kraft.version": (0, 1), "metadata.version": (1, 21)}
    assert features_of((4, 2)).keys() >= SUPPORTED.keys()
