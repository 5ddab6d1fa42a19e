"""A sequence diagram as one HTML file: the rows of the SVG, each with its details, a filter, and repetitions that can be shown.

The file refers to nothing else. Its content security policy allows only the style and the script that it contains, by their hashes, so that
a name of a client could not run anything even if it were not escaped. Rows are `details` elements, which work with keyboards and screen
readers; without scripts, the filter is missing and everything else works.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape

from ...short_repr import short_repr
from ..exchange import Entry, Event, Exchange
from ..labels import shorten
from .layout import Diagram, DiagramStep
from .svg import HEAD_HEIGHT, ROW_HEIGHT, STYLE, SvgFrame

_STYLE = (
    STYLE
    + """
:root{color-scheme:light dark}
body{margin:0;font:14px system-ui,sans-serif}
form{display:flex;flex-wrap:wrap;gap:1em;align-items:center;padding:.6em 1em}
input[type=search]{min-width:16em;font:inherit;padding:.2em .4em}
main{overflow-x:auto}
svg.diagram{display:block}
.heads{position:sticky;top:0}
summary{display:block;cursor:pointer}
summary:hover svg,summary:focus-visible svg{outline:1px solid}
pre{margin:.2em 1em 1em;padding:.6em;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid;border-radius:4px}
"""
)
_SCRIPT = """
const form = document.querySelector("form"), rows = [...document.querySelectorAll("details")];
const words = rows.map(row => row.textContent.toLowerCase());
function show() {
  const wanted = form.filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  rows.forEach((row, number) => {
    const kind = row.dataset.kind;
    row.hidden = !wanted.every(word => words[number].includes(word))
      || (form.remarkable.checked && kind === "plain")
      || (form.repetitions.checked ? kind === "fold" : row.dataset.repeated === "1");
    shown += !row.hidden;
  });
  form.count.value = `${shown} of ${rows.length} steps`;
}
form.addEventListener("input", show);
form.addEventListener("submit", event => event.preventDefault());
form.hidden = false;
show();
"""


def as_html(diagram: Diagram, entries: Iterable[Entry]) -> str:
    """Returns the document. The details of a row come from the entry with its number."""
    details = {entry.sequence: _details(entry) for entry in entries}
    frame = SvgFrame(diagram, diagram.steps, times=True)
    heads = _picture(frame, HEAD_HEIGHT, "Clients and nodes", frame.heads(), "diagram heads")
    rows = "\n".join(_row(frame, step, details) for step in diagram.steps)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sequence diagram</title>
<style>{_STYLE}</style>
<form hidden>
<label>Filter <input type="search" name="filter" placeholder="produce orders-0"></label>
<label><input type="checkbox" name="remarkable"> only errors, faults, waits and events</label>
<label><input type="checkbox" name="repetitions"> repetitions</label>
<output name="count"></output>
</form>
<main>
{heads}
{rows}
</main>
<script>{_SCRIPT}</script>
</html>
"""


def _policy() -> str:
    return f"default-src 'none'; style-src '{_hash(_STYLE)}'; script-src '{_hash(_SCRIPT)}'; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _row(frame: SvgFrame, step: DiagramStep, details: Mapping[int, str]) -> str:
    repeated = ' data-repeated="1" hidden' if step.repeated else ""
    picture = _picture(frame, ROW_HEIGHT, step.text, frame.row(step), "diagram")
    text = escape(details.get(step.sequence, ""))
    return f'<details data-kind="{step.tone.value}"{repeated}><summary>{picture}</summary><pre>{text}</pre></details>'


def _picture(frame: SvgFrame, height: int, label: str, drawing: str, kind: str) -> str:
    return (
        f'<svg class="{kind}" role="img" aria-label="{escape(label)}" width="{frame.width:.0f}" height="{height}">'
        f'<rect width="100%" height="100%" fill="var(--paper)"/>{drawing}</svg>'
    )


def _details(entry: Entry) -> str:
    """Returns an entry with its fields, one on each line."""
    described = _event(entry) if isinstance(entry, Event) else _exchange(entry)
    return "\n".join(f"{name}: {shorten(str(value), 2000)}" for name, value in described.items() if value not in ("", None, ()))


def _event(event: Event) -> dict[str, object]:
    return {"event": event.kind, "node": event.node, "connection": event.connection, "text": event.text, **event.fields}


def _exchange(exchange: Exchange) -> dict[str, object]:
    received, answered, response = exchange.received, exchange.answered, exchange.response_frame
    return {
        "api": f"{exchange.api} v{exchange.version}, correlation id {exchange.correlation_id}",
        "client": f"{exchange.client_id} {exchange.software} at {exchange.peer}, connection {exchange.connection}, {exchange.principal}",
        "node": f"{exchange.node}, listener {exchange.listener}",
        "answered after": "" if answered is None else f"{answered.cluster_ms - received.cluster_ms:.0f} ms",
        "size": f"{exchange.request_frame.size} bytes" + ("" if response is None else f", answer {response.size} bytes"),
        "errors": ", ".join(exchange.errors),
        "waited for": ", ".join(exchange.waits),
        "faults": ", ".join(exchange.faults),
        "end": exchange.ended,
        "request": "" if exchange.request is None else short_repr(exchange.request),
        "response": "" if exchange.response is None else short_repr(exchange.response),
    }
