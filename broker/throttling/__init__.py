"""Enforces quotas: measures what clients use, and delays those that exceed their quota (KIP-13, KIP-124, KIP-219, KIP-599, KIP-612)."""
