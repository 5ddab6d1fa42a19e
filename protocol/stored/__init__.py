"""The formats of what brokers and clients keep in records and in opaque bytes: coordinator records, subscriptions, assignments."""
