"""How a record batch gets into a partition: checks in Kafka's order, then the append."""
