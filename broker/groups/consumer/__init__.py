"""Groups of ConsumerGroupHeartbeat (KIP-848)."""
