"""Timers over the injected clock, and what a waiting handler yields."""
