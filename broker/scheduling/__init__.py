"""Timers over an injected clock, waiting requests, turns of the event loop, and the reversal of failed steps."""
