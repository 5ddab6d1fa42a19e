"""Groups of the streams protocol (KIP-1071), which assign the tasks of Kafka Streams. `group.py` explains how they work."""
