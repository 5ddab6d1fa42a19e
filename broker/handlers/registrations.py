"""UnregisterBroker: removes a node from metadata."""

from __future__ import annotations

from ...protocol.messages.unregister_broker import UNREGISTER_BROKER, UnregisterBrokerRequest, UnregisterBrokerResponse
from ..api.context import Context
from ..api.registry import handles
from ..security.acls import Operation


@handles(UNREGISTER_BROKER)
def unregister_broker(request: UnregisterBrokerRequest, context: Context) -> UnregisterBrokerResponse:
    """Removes a node from metadata until it is started again. A running node loses its leaderships, as if it had been stopped."""
    context.demand(Operation.ALTER)
    context.cluster.nodes.unregister(request.broker_id)
    return UnregisterBrokerResponse(error_message="")
