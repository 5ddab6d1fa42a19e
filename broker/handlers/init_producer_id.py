"""InitProducerId: the id and epoch of an idempotent or transactional producer.

v3 may name the producer that one is, to go on after an error (KIP-360); before v4 PRODUCER_FENCED is said as INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest, InitProducerIdResponse
from ..context import Context
from ..registry import handles
from ..security.acls import Operation, ResourceType
from ..topics.names import TRANSACTION_STATE
from ..transactions.coordinator import NO_PRODUCER, Answer
from ..transactions.transaction import Producer

KNOWS_FENCED = 4


@handles(INIT_PRODUCER_ID)
def init_producer_id(request: InitProducerIdRequest, context: Context) -> InitProducerIdResponse:
    """Without a transactional id: a fresh id and epoch 0, also for who asks again (no state is kept for it)."""
    if (request.producer_id == -1) != (request.producer_epoch == -1) or request.transactional_id == "":
        answer = Answer(ErrorCode.INVALID_REQUEST)
    elif request.transactional_id and not context.may(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
        answer = Answer(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    elif not request.transactional_id and not (
        context.may(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER) or context.may_somewhere(Operation.WRITE, ResourceType.TOPIC)
    ):
        answer = Answer(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    elif request.transactional_id is None:
        answer = Answer(ErrorCode.NONE, Producer(context.cluster.producer_ids.generate(), 0))
    else:
        answer = _init(request.transactional_id, request, context)
    error = answer.error
    if error is ErrorCode.PRODUCER_FENCED and context.version < KNOWS_FENCED:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    return InitProducerIdResponse(error_code=error, producer_id=answer.producer.id, producer_epoch=answer.producer.epoch)


def _init(transactional_id: str, request: InitProducerIdRequest, context: Context) -> Answer:
    transactions = context.broker.transactions
    if not transactions.allows_timeout(request.transaction_timeout_ms):
        return Answer(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    if not context.broker.is_coordinator(transactional_id, TRANSACTION_STATE):
        return Answer(ErrorCode.NOT_COORDINATOR)
    expected = Producer(request.producer_id, request.producer_epoch)
    return transactions.init_producer_id(transactional_id, request.transaction_timeout_ms, None if expected == NO_PRODUCER else expected)
