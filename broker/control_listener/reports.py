"""Reports for monitoring: `/metrics` for Prometheus, `/healthz` and `/readyz` for whatever starts the process.

`/healthz` returns 200 as long as the event loop answers at all. `/readyz` returns 200 while at least one node serves clients, otherwise
503. Both are public, because programs that start containers ask them without a token, and they tell nothing about the data.
"""

from __future__ import annotations

from http import HTTPStatus

from ..controls.cluster_controls import ClusterControls
from ..controls.reports import Metrics, nodes_in_service
from ..metrics.openmetrics import CONTENT_TYPE
from .routes import Rendered, Report

_TEXT = "text/plain; charset=utf-8"


def reports(controls: ClusterControls) -> dict[str, Report]:
    """Returns the reports by their paths."""
    metrics = Metrics(controls)
    return {
        "/metrics": Report(CONTENT_TYPE, lambda: (HTTPStatus.OK, metrics.pieces())),
        "/healthz": Report(_TEXT, lambda: (HTTPStatus.OK, ["ok\n"]), public=True),
        "/readyz": Report(_TEXT, lambda: _readiness(controls), public=True),
    }


def _readiness(controls: ClusterControls) -> Rendered:
    serving, nodes = nodes_in_service(controls)
    status = HTTPStatus.OK if serving else HTTPStatus.SERVICE_UNAVAILABLE
    return status, [f"{'ready' if serving else 'not ready'}: {serving} of {nodes} nodes serve clients\n"]
