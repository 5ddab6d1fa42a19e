"""Older releases of Kafka, which a cluster emulates with `as_version`: what a client can see of a release is a table in this folder."""
