"""The page about a failed test: its name and failures, and for each of its clusters the report and a sequence diagram.

The page is one file that refers to nothing else. All texts are escaped. It has no script of its own; a diagram is a document in a frame of
its own, whose content security policy allows only the script that it contains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import NamedTuple

from .failure_report import ClusterReport

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page loads nothing from elsewhere. Frames inherit this policy, so that it allows their scripts, which their own one restricts."""
STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:1.5em auto;max-width:75em;padding:0 1em}
h1{font-size:1.4em;overflow-wrap:anywhere}
h2{font-size:1.2em;border-bottom:1px solid;overflow-wrap:anywhere}
h3{font-size:1em;margin-bottom:.3em}
pre{overflow-x:auto;padding:.6em;border:1px solid;border-radius:4px}
iframe{width:100%;height:80vh;border:1px solid;border-radius:4px}
"""


class ClusterPart(NamedTuple):
    """The part of the page about one cluster. `diagram` is an HTML document, "" if there is none."""

    report: ClusterReport
    diagram: str


def page_of(test: str, failures: Mapping[str, str], clusters: Iterable[ClusterPart]) -> str:
    """Returns the document about a test, with the texts of its failures by their phases."""
    body = "\n".join([*_failures(failures), *(line for part in clusters for line in _cluster(part))])
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(test)}</title>
<style>{STYLE}</style>
<h1>{_text(test)}</h1>
{body}
</html>
"""


def _failures(failures: Mapping[str, str]) -> Iterator[str]:
    for phase, text in failures.items():
        yield f"<h2>Failure in {_text(phase)}</h2>\n{_lines(text.splitlines())}"


def _cluster(part: ClusterPart) -> Iterator[str]:
    yield f"<h2>{_text(part.report.head)}</h2>"
    for title, lines in part.report.parts.items():
        yield f"<h3>{_text(title)}</h3>\n{_lines(lines or ['none'])}"
    if part.diagram:
        yield '<h3>Diagram</h3>\n<iframe sandbox="allow-scripts" title="Sequence diagram" srcdoc="' + escape(part.diagram) + '"></iframe>'


def _lines(lines: Iterable[str]) -> str:
    return "<pre>" + "\n".join(map(_text, lines)) + "</pre>"


def _text(text: str) -> str:
    """Returns a text for HTML, with escapes in place of characters that are not printable."""
    return escape("".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text))
