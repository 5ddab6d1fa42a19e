"""The wire protocol of Kafka: messages and their codec, frames, error codes, compression and record batches."""
