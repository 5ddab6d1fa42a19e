"""Appending record batches to partitions: the checks of a Produce request in Kafka's order, then the append."""
