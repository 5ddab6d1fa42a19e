"""Builds what a release publishes: `make dist`. It is not installed."""
