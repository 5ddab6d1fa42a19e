"""JSON Schema, drafts 4 to 2020-12, with the rules of Confluent's registry, which compares what the library everit makes of a schema."""
