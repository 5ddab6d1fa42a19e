"""Compares the registry with Karapace, whose answers to many requests are recorded."""
