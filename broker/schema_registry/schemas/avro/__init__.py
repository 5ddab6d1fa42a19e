"""Schemas of Apache Avro, with the text, errors and rules of Avro's Java library 1.12, which Confluent's registry uses."""
