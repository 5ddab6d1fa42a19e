"""The page for browsers: files that the control listener serves at `/` and below `/page/`.

The page needs no build step and loads nothing from other hosts. Its files are public, because it is the page itself that asks for the
token; the controls that it calls are not. The content security policy lets a browser run only these files, connect only to this listener,
and refuse every conversion of text to markup or code. Names of topics and other texts of clients can therefore not become markup, even if
the page had an error.
"""

from __future__ import annotations

from types import MappingProxyType

from .routes import Document

PAGE_PATH = "/page/"
START_FILE = "index.html"
FILES = (
    START_FILE,
    "api.js",
    "app.js",
    "bytes.js",
    "chart.js",
    "dialogs.js",
    "dom.js",
    "exchange.js",
    "form.js",
    "icon.svg",
    "lag.js",
    "live.js",
    "marks.js",
    "now.js",
    "rebalances.js",
    "sample.js",
    "sequence.js",
    "style.css",
    "table.js",
    "text.js",
    "views/access.js",
    "views/clock.js",
    "views/faults.js",
    "views/groups.js",
    "views/nodes.js",
    "views/overview.js",
    "views/records.js",
    "views/state.js",
    "views/topics.js",
    "views/transactions.js",
    "views/wire.js",
)
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
HEADERS = MappingProxyType(
    {
        "Content-Security-Policy": "; ".join(f"{directive} {sources}" for directive, sources in _POLICY.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
    }
)


def page_resources() -> dict[str, Document]:
    """Returns the files of the page by their paths. They are read at each request, so that a developer sees a change at once."""
    resources = {f"{PAGE_PATH}{name}": _resource(name) for name in FILES}
    return {"/": resources[PAGE_PATH + START_FILE], **resources}


def _resource(name: str) -> Document:
    return Document(f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8", lambda: _read(name), public=True, headers=HEADERS)


def _read(name: str) -> bytes:
    from importlib.resources import files

    return files(__package__).joinpath("page", name).read_bytes()
