"""Handles one heartbeat of a member of a streams group, without changing the group (Kafka's `streamsGroupHeartbeat`).

1. The member is found, or created if its epoch is 0, and its metadata is updated.
2. The first topology becomes that of the group. Others must be the same; a member with an older one learns that it is stale.
3. The topology is configured with the existing topics (`configuration.py`), if the topology or the topics have changed.
4. A new group epoch begins if the member, the topics, the validity of the topology or the settings of the assignor have changed.
5. The target assignment is computed (`sticky_assignor.py`) unless it has to wait for the initial delay or the assignment interval.
6. The member is moved towards its target (`reconciliation.py`).
7. The result tells the member what is new, and in statuses what is wrong with the group.

Afterwards `changes` has to be written and applied, and `finish` called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ....protocol.errors import ErrorCode, KafkaError
from ...kafka_quirks.java_hash import timeline_order
from ..cluster_view import ClusterView
from ..heartbeat_group import metadata_hash
from .changes import UNVALIDATED, AssignmentConfigs, Changes, GroupEpoch
from .configuration import Configuration, ConfiguredSubtopology, configure
from .group import StreamsGroup
from .heartbeat import EndpointPartitions, OwnedTasks, Status, StatusCode, StreamsHeartbeat, StreamsHeartbeatResult
from .member import StreamsMember
from .reconciliation import MemberTarget, reconcile
from .tasks import Task, Tasks, by_subtopology
from .topology import Topology


class HeartbeatStep:
    """One heartbeat. `result` is complete after the constructor, which raises KafkaError."""

    def __init__(self, group: StreamsGroup, heartbeat: StreamsHeartbeat, *, is_new: bool) -> None:
        self._group, self._heartbeat, self._is_new = group, heartbeat, is_new
        self._unwritten = replace(group.unwritten)
        self._statuses: list[Status] = []
        self._delay_ms = 0
        self.changes = Changes()
        before = self._find_member()
        if heartbeat.is_malformed:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        member = self._update_metadata(before)
        topology = self._check_topology()
        self._note_stale_topology(member)
        configuration, hash_now = self._configure(topology)
        self._check_owned(configuration)
        epoch = self._epoch(topology, configuration, hash_now)
        target = self._target(member, epoch, configuration)
        member = self._reconcile(member, target)
        self.result = self._result(before, member, configuration)

    def finish(self) -> None:
        """Starts timers, and stores the facts of the group that are not written. As in Kafka, a new group does not keep those facts."""
        group = self._group
        if not self._is_new:
            group.unwritten = self._unwritten
        if self._delay_ms:
            group.start_delay(self._delay_ms)
        group.renew_session(group.members[self._heartbeat.member_id])

    # The member

    def _find_member(self) -> StreamsMember:
        heartbeat, group = self._heartbeat, self._group
        if heartbeat.epoch != 0:
            member = group.find(heartbeat.member_id)
            self._check_epoch(member)
            return member
        if len(group.members) >= group.settings.group_streams_max_size:  # Kafka also refuses a member that joins again
            raise group.full_error
        return group.members.get(heartbeat.member_id) or StreamsMember(heartbeat.member_id)

    def _check_epoch(self, member: StreamsMember) -> None:
        """Raises KafkaError with FENCED_MEMBER_EPOCH if the heartbeat is of another epoch.

        The previous epoch is accepted as well if the member owns only tasks that are assigned to it, because the member may not have
        received the last response.
        """
        epoch = self._heartbeat.epoch
        if epoch == member.epoch or (epoch < member.epoch and epoch == member.previous_epoch and self._owns_only_assigned(member)):
            return
        size = "greater" if epoch > member.epoch else "smaller"
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The streams group member has a {size} member epoch ({epoch}) than the one known by the group coordinator ({member.epoch})."
            " The member must abandon all its partitions and rejoin.",
        )

    def _owns_only_assigned(self, member: StreamsMember) -> bool:
        beat, assigned = self._heartbeat, member.assigned
        roles = ((beat.active, assigned.active), (beat.standby, assigned.standby), (beat.warmup, assigned.warmup))
        for owned, allowed in roles:
            subtopologies = {name for name, _ in allowed}
            if owned is None or any(
                name not in subtopologies or any((name, index) not in allowed for index in indexes) for name, indexes in owned
            ):
                return False
        return True

    def _update_metadata(self, member: StreamsMember) -> StreamsMember:
        beat = self._heartbeat
        updated = member._replace(
            rack_id=member.rack_id if beat.rack_id is None else beat.rack_id,
            client_id=beat.client_id,
            client_host=beat.client_host,
            rebalance_timeout_ms=member.rebalance_timeout_ms if beat.rebalance_timeout_ms == -1 else beat.rebalance_timeout_ms,
            topology_epoch=member.topology_epoch if beat.topology is None else beat.topology.epoch,
            process_id=member.process_id if beat.process_id is None else beat.process_id,
            endpoint=member.endpoint if beat.endpoint is None else beat.endpoint,
            client_tags=member.client_tags if beat.client_tags is None else beat.client_tags,
        )
        if updated != member:
            self.changes.metadata = updated
        return updated

    # The topology

    def _check_topology(self) -> Topology:
        """Returns the topology of the group after this step. Raises KafkaError with INVALID_REQUEST for a different one."""
        present, sent = self._group.topology, self._heartbeat.topology
        if present is None:
            if sent is None:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
            self.changes.topology = sent
            return sent
        if sent is not None and sent.epoch >= present.epoch and sent != present:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Topology updates are not supported yet.")
        return present

    def _note_stale_topology(self, member: StreamsMember) -> None:
        present = self._group.topology
        if present is not None and member.topology_epoch < present.epoch:
            detail = f"The member's topology epoch {member.topology_epoch} is behind the group's topology epoch {present.epoch}."
            self._statuses.append(Status(StatusCode.STALE_TOPOLOGY, detail))

    def _configure(self, topology: Topology) -> tuple[Configuration, int]:
        """Returns the configuration of the topology and the hash of its topics."""
        group, cluster = self._group, self._group.cluster
        present, known_hash = self._unwritten.configuration, group.group_epoch.metadata_hash
        if present is not None and self._unwritten.topics_version == cluster.topics_version:
            return present, known_hash
        required = topology.required_topics()
        hash_now = metadata_hash(required, cluster.topics)
        if present is None or hash_now != known_hash:
            topics = cluster.topics
            present = configure(topology, {name: len(topics[name].partitions) for name in required if name in topics})
        self._unwritten.configuration, self._unwritten.topics_version = present, cluster.topics_version
        return present, hash_now

    def _check_owned(self, configuration: Configuration) -> None:
        """Raises KafkaError with INVALID_REQUEST if the member reports tasks that the topology does not have."""
        if configuration.problem is not None or configuration.subtopologies is None:
            return
        for owned in (self._heartbeat.active, self._heartbeat.standby, self._heartbeat.warmup):
            for name, indexes in owned or ():
                part = configuration.subtopologies.get(name)
                if part is None:
                    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Subtopology {name} does not exist in the topology.")
                for index in indexes:
                    if not 0 <= index < part.tasks:
                        reason = f"Task {index} for subtopology {name} is invalid. Number of tasks for this subtopology: {part.tasks}"
                        raise KafkaError(ErrorCode.INVALID_REQUEST, reason)

    # Epochs and assignments

    def _epoch(self, topology: Topology, configuration: Configuration, hash_now: int) -> GroupEpoch:
        """Returns the group epoch, which is a new one if anything that it depends on has changed."""
        present = self._group.group_epoch
        validated = topology.epoch if configuration.problem is None else UNVALIDATED
        after = present._replace(metadata_hash=hash_now, validated_topology_epoch=validated, assignment_configs=self._assignment_configs())
        if after == present and self.changes.metadata is None:
            return present
        self.changes.epoch = after._replace(number=present.number + 1)
        return self.changes.epoch

    def _assignment_configs(self) -> AssignmentConfigs:
        replicas = self._group.setting("streams.num.standby.replicas", self._group.settings.group_streams_num_standby_replicas)
        return (("num.standby.replicas", str(replicas)),)

    def _target(self, member: StreamsMember, epoch: GroupEpoch, configuration: Configuration) -> MemberTarget:
        """Returns the member's target, from a new target assignment if one is due."""
        group = self._group
        if self._is_in_initial_delay():
            self._note_delay("initial rebalance delay")
            return MemberTarget(group.assignment_epoch, Tasks())
        if epoch.number > group.assignment_epoch:
            if group.may_assign():
                targets = group.assignment(epoch, configuration, member)
                assigned = group.target_changes(targets, epoch.number)
                self.changes.targets, self.changes.target_epoch = assigned.targets, assigned.target_epoch
                return MemberTarget(epoch.number, targets[member.member_id])
            self._note_delay("assignment interval")
        return MemberTarget(group.assignment_epoch, group.targets.get(member.member_id, Tasks()))

    def _is_in_initial_delay(self) -> bool:
        group = self._group
        if group.delay_key in group.timers:
            return True
        if group.is_empty:
            delay_ms = group.settings.group_streams_initial_rebalance_delay_ms
            self._delay_ms = group.setting("streams.initial.rebalance.delay.ms", delay_ms)
        return self._delay_ms > 0

    def _note_delay(self, reason: str) -> None:
        self._statuses.append(Status(StatusCode.ASSIGNMENT_DELAYED, f"Assignment delayed due to the configured {reason}."))

    def _reconcile(self, member: StreamsMember, target: MemberTarget) -> StreamsMember:
        after = reconcile(member, target, self._group.owners, self._owned_tasks)
        if after != member:
            self.changes.current = after
        return after

    def _owned_tasks(self) -> Tasks | None:
        beat = self._heartbeat
        if beat.active is None or beat.standby is None or beat.warmup is None:
            return None
        return Tasks(_tasks(beat.active), _tasks(beat.standby), _tasks(beat.warmup))

    # The result

    def _result(self, before: StreamsMember, member: StreamsMember, configuration: Configuration) -> StreamsHeartbeatResult:
        group, unwritten = self._group, self._unwritten
        if self._heartbeat.shutdown_application and unwritten.shutdown_member is None:
            unwritten.shutdown_member = member.member_id
        changed = self._heartbeat.epoch == 0 or before.assigned != member.assigned
        if changed and member.endpoint is not None:
            unwritten.endpoint_epoch += 1
        if configuration.problem is not None:
            self._statuses.append(Status(StatusCode[configuration.problem.status], configuration.problem.detail))
        if unwritten.shutdown_member is not None:
            self._statuses.append(shutdown_status(unwritten.shutdown_member))
        return StreamsHeartbeatResult(
            member.member_id,
            member.epoch,
            group.setting("streams.heartbeat.interval.ms", group.settings.group_streams_heartbeat_interval_ms),
            tuple(self._statuses),
            member.assigned if changed else None,
            0 if self._is_new else unwritten.endpoint_epoch,
            self._endpoints(member, configuration) if unwritten.endpoint_epoch != self._heartbeat.endpoint_epoch else None,
            configuration.missing,
        )

    def _endpoints(self, member: StreamsMember, configuration: Configuration) -> list[EndpointPartitions]:
        members = self._group.members
        others = [members[member_id] for member_id in timeline_order(members) if member_id != member.member_id]
        return endpoint_partitions([*others, member], configuration, self._group.cluster)


def _tasks(owned: OwnedTasks) -> frozenset[tuple[str, int]]:
    """Returns the tasks. Raises KafkaError with UNKNOWN_SERVER_ERROR, as Kafka fails, if a subtopology occurs twice."""
    if len({name for name, _ in owned}) < len(owned):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return frozenset((name, index) for name, indexes in owned for index in indexes)


def shutdown_status(member_id: str) -> Status:
    reason = f"Streams group member {member_id} encountered a fatal error and requested a shutdown for the entire application."
    return Status(StatusCode.SHUTDOWN_APPLICATION, reason)


def endpoint_partitions(members: Iterable[StreamsMember], configuration: Configuration, cluster: ClusterView) -> list[EndpointPartitions]:
    """Returns the partitions that each member with an endpoint can answer queries about (Kafka's EndpointToPartitionsManager).

    Raises KafkaError with UNKNOWN_SERVER_ERROR, as Kafka fails, if a member has an endpoint and topics of the topology are missing.
    """
    return [
        EndpointPartitions(
            member.endpoint,
            _partitions(member.assigned.active, configuration.subtopologies, cluster),
            _partitions(member.assigned.standby, configuration.subtopologies, cluster),
        )
        for member in members
        if member.endpoint is not None
    ]


def _partitions(
    tasks: Iterable[Task], subtopologies: Mapping[str, ConfiguredSubtopology] | None, cluster: ClusterView
) -> list[tuple[str, list[int]]]:
    if subtopologies is None:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    found = []
    for name, partitions in by_subtopology(tasks).items():
        part = subtopologies.get(name)
        for topic in sorted(part.source_topics | part.repartition_source_topics.keys()) if part else ():
            if topic not in cluster.topics:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
            # Kafka takes as many partitions as the topic has, not those that it has.
            found.append((topic, partitions[: len(cluster.topics[topic].partitions)]))
    return found
