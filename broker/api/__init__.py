"""The parts that handlers share: the context of a request, the registry of APIs, lookups, error responses, waiting requests."""
