"""The lowest and the highest level of each feature that brokers of a release support (Kafka's BrokerFeatures).

Clusters with ZooKeeper have no features: up to 3.2, the response of ApiVersions contains none. Features that a release only offers as a
preview are left out, such as share groups in 4.1.
"""

from __future__ import annotations

Levels = tuple[int, int]

HIGHEST_METADATA_VERSION = {
    (3, 3): 7,
    (3, 4): 8,
    (3, 5): 11,
    (3, 6): 14,
    (3, 7): 19,
    (3, 8): 20,
    (3, 9): 21,
    (4, 0): 25,
    (4, 1): 27,
    (4, 2): 29,
}
"""The highest level of metadata.version that is not marked as unstable (Kafka's MetadataVersion.LATEST_PRODUCTION)."""


def features_of(release: tuple[int, int]) -> dict[str, Levels]:
    """Returns the features of a release, in Kafka's order."""
    if release not in HIGHEST_METADATA_VERSION:
        return {}
    metadata_version = (1 if release < (4, 0) else 7, HIGHEST_METADATA_VERSION[release])
    if release < (3, 9):
        return {"metadata.version": metadata_version}
    if release < (4, 0):
        return {"kraft.version": (0, 1), "metadata.version": metadata_version}
    features = {
        "group.version": (0, 1),
        "kraft.version": (0, 1),
        "metadata.version": metadata_version,
        "transaction.version": (0, 2),
        "eligible.leader.replicas.version": (0, 1),
    }
    return features if release < (4, 2) else features | {"share.version": (0, 1), "streams.version": (0, 1)}
