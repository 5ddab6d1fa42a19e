"""A client's connection to a broker: the socket, TLS and SASL with their settings under Kafka's names, and the versions of requests."""
