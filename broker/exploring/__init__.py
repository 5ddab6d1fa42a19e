"""Exploration: at which requests of a test faults are tried, which faults can happen there in a real cluster, and what came of them.

This package does no I/O. The pytest plugin (`plugin/explore.py`) and `odradek explore` run the test again and again; the control
`fault point` adds one of the faults to a cluster.
"""
