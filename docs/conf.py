"""Configuration of the documentation site, which `make site` builds with Sphinx.

The pages are Markdown that GitHub shows too. The site needs no network: furo, Sphinx and sphinx-copybutton bring their
styles and scripts along.
"""

from __future__ import annotations

from odradek import __version__

project = "odradek"
author = "the odradek developers"
version = release = __version__
copyright = "the odradek developers, Apache License 2.0"  # noqa: A001  (the name that Sphinx reads)

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["_build"]
myst_heading_anchors = (
    4  # links such as testing.md#records lead to headings, as on GitHub
)
nitpicky = True

copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["find.js"]
html_logo = html_favicon = "../broker/controls/http/page/icon.svg"
# The colours of the page in broker/controls/http/page/style.css.
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f6468",
        "color-brand-content": "#1f6468",
        "color-brand-visited": "#1f6468",
        "color-foreground-primary": "#22242a",
        "color-foreground-secondary": "#5d6068",
        "color-background-primary": "#ffffff",
        "color-background-secondary": "#f6f5f2",
        "color-background-border": "#e2dfd8",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc4c2",
        "color-brand-content": "#7cc4c2",
        "color-brand-visited": "#7cc4c2",
        "color-foreground-primary": "#e4e5e7",
        "color-foreground-secondary": "#a3a8b0",
        "color-background-primary": "#15171a",
        "color-background-secondary": "#1c1f23",
        "color-background-border": "#31363c",
    },
}
html_title = f"odradek {__version__}"
html_show_sphinx = False
html_copy_source = False
html_show_search_summary = False  # a summary is fetched, which browsers refuse in pages that are opened as files

linkcheck_timeout = 20
linkcheck_ignore = [r"http://127\.0\.0\.1.*"]
linkcheck_anchors_ignore_for_url = [
    r"https://github\.com/.*"
]  # GitHub makes anchors in the browser
