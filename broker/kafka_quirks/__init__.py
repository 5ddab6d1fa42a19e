"""Behaviour of Java and of RE2 that Kafka's answers depend on."""
