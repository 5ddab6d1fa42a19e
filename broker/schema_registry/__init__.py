"""The schema registry: Confluent's REST API for Avro, JSON Schema and Protobuf, beside the brokers."""
