"""Handles of topics and groups for tests: `cluster.topic("orders")`, `cluster.group("billing")`, formats of records, and assertions."""
