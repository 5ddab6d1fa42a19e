"""AddRaftVoter and RemoveRaftVoter (KIP-853). The emulated quorum always has exactly one voter, so both requests fail."""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.add_raft_voter import ADD_RAFT_VOTER, AddRaftVoterRequest, AddRaftVoterResponse
from ...protocol.messages.remove_raft_voter import REMOVE_RAFT_VOTER, RemoveRaftVoterRequest, RemoveRaftVoterResponse
from ...protocol.schema import ZERO_UUID
from ..api.context import Context
from ..api.registry import handles
from ..cluster.features import KRAFT_VERSION
from ..cluster.state import ClusterState
from ..security.acls import Operation

DEFAULT_CONTROLLER_LISTENER = "CONTROLLER"


@handles(ADD_RAFT_VOTER)
def add_raft_voter(request: AddRaftVoterRequest, context: Context) -> AddRaftVoterResponse:
    """Raises KafkaError, with REQUEST_TIMED_OUT for a valid request, because there is no controller at the voter's address."""
    context.demand(Operation.ALTER)
    cluster = context.cluster
    _check_voter(request, "Add", cluster)
    names = cluster.config.lists.get("controller.listener.names") or (DEFAULT_CONTROLLER_LISTENER,)
    if names[0] not in {listener.name for listener in request.listeners}:
        problem = f"Add voter request didn't include the endpoint for the default listener {names[0]}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, problem)
    _check_kraft_version("adding", cluster)
    if request.voter_id == cluster.brokers.controller_id:
        raise KafkaError(ErrorCode.DUPLICATE_VOTER, f"The voter id {request.voter_id} is already part of the set of voters.")
    raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"New voter {request.voter_id} is not ready to receive requests")


@handles(REMOVE_RAFT_VOTER)
def remove_raft_voter(request: RemoveRaftVoterRequest, context: Context) -> RemoveRaftVoterResponse:
    """Raises KafkaError, with VOTER_NOT_FOUND for a valid request, because the only voter cannot be removed."""
    context.demand(Operation.ALTER)
    cluster = context.cluster
    _check_voter(request, "Remove", cluster)
    _check_kraft_version("removing", cluster)
    raise KafkaError(ErrorCode.VOTER_NOT_FOUND, f"Cannot remove voter {request.voter_id} from the set of voters")


def _check_voter(request: AddRaftVoterRequest | RemoveRaftVoterRequest, verb: str, cluster: ClusterState) -> None:
    if request.cluster_id not in (None, cluster.cluster_id):
        problem = f'The given id "{request.cluster_id}" doesn\'t match the cluster id "{cluster.cluster_id}"'
        raise KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, problem)
    if request.voter_id < 0 or request.voter_directory_id == ZERO_UUID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{verb} voter request didn't include a valid voter")


def _check_kraft_version(doing: str, cluster: ClusterState) -> None:
    if not cluster.features.level(KRAFT_VERSION):
        problem = f"Cluster doesn't support {doing} voter because the kraft.version feature is 0"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, problem)
