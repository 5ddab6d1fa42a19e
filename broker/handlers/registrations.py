"""UnregisterBroker: forgets a node that is not coming back."""

from __future__ import annotations

from ...protocol.messages.unregister_broker import UNREGISTER_BROKER, UnregisterBrokerRequest, UnregisterBrokerResponse
from ..context import Context
from ..registry import handles
from ..security.acls import Operation


@handles(UNREGISTER_BROKER)
def unregister_broker(request: UnregisterBrokerRequest, context: Context) -> UnregisterBrokerResponse:
    """Removes a node from metadata until it is started again. A node that is up loses its leaderships, as if it had stopped."""
    context.demand(Operation.ALTER)
    context.cluster.unregister_node(request.broker_id)
    return UnregisterBrokerResponse(error_message="")
