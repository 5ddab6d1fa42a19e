"""InitProducerId: the id of an idempotent producer. Not done: transactional ids, which are refused."""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest, InitProducerIdResponse
from ..context import Context
from .registry import handles


@handles(INIT_PRODUCER_ID)
def init_producer_id(request: InitProducerIdRequest, context: Context) -> InitProducerIdResponse:
    """A fresh id and epoch 0; an idempotent producer that asks again is a new one (no state is kept for it)."""
    if request.transactional_id is not None:
        code = ErrorCode.INVALID_REQUEST if request.transactional_id == "" else ErrorCode.UNSUPPORTED_VERSION
        return InitProducerIdResponse(error_code=code, producer_epoch=-1)
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1)
    return InitProducerIdResponse(producer_id=context.broker.cluster.next_producer_id(), producer_epoch=0)
