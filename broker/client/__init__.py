"""A small blocking Kafka client, with which `odradek produce`, `consume`, `topics` and `groups` work with any Kafka cluster."""
