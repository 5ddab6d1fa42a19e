"""Schemas of Protocol Buffers, from text or from a serialized descriptor, with the text and the rules of Confluent's registry."""
