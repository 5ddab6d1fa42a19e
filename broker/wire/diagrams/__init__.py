"""Sequence diagrams of a list of entries: as text, Mermaid, SVG and HTML."""
