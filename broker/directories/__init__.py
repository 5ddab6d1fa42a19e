"""Kafka's log directories: exports the state of a cluster to them, imports them into a cluster, and describes their files."""
