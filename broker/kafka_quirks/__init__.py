"""Behaviour of Java and RE2/J on which Kafka's responses depend: hash codes and orders, 64-bit arithmetic, regular expressions."""
