"""The page about a whole exploration: what was tried at each test, and for each failure the doctor's findings, the story and the diagram.

The page is one file that refers to nothing else and has no script of its own. All texts are escaped; a diagram is a document in a frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from ..plurals import counted
from .verdicts import Exploration, FoundFailure

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page loads nothing from elsewhere. Frames inherit this policy, so that it allows the scripts of diagrams."""
STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:1.5em auto;max-width:75em;padding:0 1em}
h1{font-size:1.4em}
h2{font-size:1.15em;border-bottom:1px solid;overflow-wrap:anywhere}
pre{overflow-x:auto;padding:.6em;border:1px solid;border-radius:4px}
details{margin:.4em 0 .4em 1em}
summary{cursor:pointer;overflow-wrap:anywhere}
iframe{width:100%;height:80vh;border:1px solid;border-radius:4px}
table{border-collapse:collapse}
td,th{padding:.15em .8em .15em 0;text-align:left}
td.n{text-align:right}
.failed{color:light-dark(#a40000,#ff8a80);font-weight:600}
.passed{color:light-dark(#1b6b1b,#8bd48b);font-weight:600}
"""


def page_of_explorations(found: Iterable[Exploration], reproduce: str) -> str:
    """Returns the page about some tests. `reproduce` is the form of a line that repeats a run, with {} for the specification."""
    tests = list(found)
    body = "\n".join([*_overview(tests), *(line for each in tests for line in _test(each, reproduce))])
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Exploration of {counted(len(tests), "test")}</title>
<style>{STYLE}</style>
<h1>Exploration</h1>
{body}
</html>
"""


def _overview(tests: Iterable[Exploration]) -> Iterator[str]:
    yield "<table><tr><th>test<th>points<th>runs<th>passed<th>failed<th>not reached<th>seconds"
    for each in tests:
        numbers = (each.points, each.runs, each.passed, len(each.failures), len(each.unreached), round(each.seconds))
        cells = "".join(f'<td class="n">{number}' for number in numbers)
        verdict = "failed" if each.is_broken else "passed"
        yield f'<tr><td class="{verdict}">{_text(each.test)}{cells}'
    yield "</table>"


def _test(found: Exploration, reproduce: str) -> Iterator[str]:
    yield f"<h2>{_text(found.head)}</h2>"
    for failure in found.failures:
        yield from _failure(failure, reproduce)
    for damage, words in found.unnoticed.items():
        yield f'<p><span class="failed">not noticed</span>: {_text(words)} (<code>{_text(damage)}</code>)</p>'
    rest = [*(f"not reached: {each}" for each in found.unreached), *found.notes]
    if found.left:
        rest.append(f"{found.left} faults were not tried, because the budget was used up")
    yield from (f"<p>{_text(line)}</p>" for line in rest)


def _failure(failure: FoundFailure, reproduce: str) -> Iterator[str]:
    title = f"{failure.outcome} {failure.failed}/{failure.runs}  {failure.story}"
    evidence = failure.evidence
    yield f'<details><summary><span class="failed">{_text(title)}</span></summary>'
    yield f"<pre>{_text(failure.message)}</pre><p>reproduce: <code>{_text(reproduce.format(failure.trial))}</code></p>"
    yield from (f"<p>doctor: {_text(line)}</p>" for line in evidence.doctor)
    yield from (f"<p>{_text(line)}</p>" for line in evidence.files)
    if evidence.story:
        yield f"<pre>{_text(evidence.story)}</pre>"
    if evidence.diagram:
        yield f'<iframe sandbox="allow-scripts" loading="lazy" title="Sequence diagram" srcdoc="{escape(evidence.diagram)}"></iframe>'
    yield "</details>"


def _text(text: str) -> str:
    """Returns a text for HTML, with escapes in place of characters that are neither printable nor ends of lines."""
    return escape("".join(each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode() for each in text))
