"""Configuration of the documentation site, which `make site` builds with Sphinx.

The pages are Markdown that GitHub shows too. The site needs no network: furo and Sphinx bring their fonts, styles and scripts along.
"""

from __future__ import annotations

from odradek import __version__

project = "odradek"
author = "the odradek developers"
version = release = __version__
copyright = "the odradek developers, Apache License 2.0"  # noqa: A001  (the name that Sphinx reads)

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4  # links such as testing.md#records lead to headings, as on GitHub
nitpicky = True

html_theme = "furo"
html_title = f"odradek {__version__}"
html_show_sphinx = False
html_copy_source = False
html_show_search_summary = False  # a summary is fetched, which browsers refuse in pages that are opened as files

linkcheck_timeout = 20
linkcheck_ignore = [r"http://127\.0\.0\.1.*"]
linkcheck_anchors_ignore_for_url = [r"https://github\.com/.*"]  # GitHub makes anchors in the browser
