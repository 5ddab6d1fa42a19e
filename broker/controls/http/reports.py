"""Reports for monitoring: `/metrics` for Prometheus, `/healthz` and `/readyz` for whatever starts the process.

`/metrics` is in the format that the client accepts.
`/healthz` returns 200 as long as the event loop answers at all. `/readyz` returns 200 while at least one node serves clients, otherwise
503. Both are public, because programs that start containers ask them without a token, and they tell nothing about the data.
"""

from __future__ import annotations

from http import HTTPStatus

from ...metrics.formats import format_for
from ..cluster_controls import ClusterControls
from ..reports import Metrics, nodes_in_service
from .requests import Request
from .routes import Rendered, Report

_TEXT = "text/plain; charset=utf-8"


def reports(controls: ClusterControls) -> dict[str, Report]:
    """Returns the reports by their paths."""
    metrics = Metrics(controls)
    return {
        "/metrics": Report(lambda request: _metrics(metrics, request)),
        "/healthz": Report(lambda _: Rendered(HTTPStatus.OK, _TEXT, ["ok\n"]), public=True),
        "/readyz": Report(lambda _: _readiness(controls), public=True),
    }


def _metrics(metrics: Metrics, request: Request) -> Rendered:
    format_ = format_for(request.headers.get("accept", ""))
    return Rendered(HTTPStatus.OK, format_.content_type, format_.written(metrics.pieces()))


def _readiness(controls: ClusterControls) -> Rendered:
    serving, nodes = nodes_in_service(controls)
    status = HTTPStatus.OK if serving else HTTPStatus.SERVICE_UNAVAILABLE
    return Rendered(status, _TEXT, [f"{'ready' if serving else 'not ready'}: {serving} of {nodes} nodes serve clients\n"])
