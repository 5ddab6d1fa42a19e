// Generated from the OpenAPI document of odradek by `make docs`. Do not edit.

import { get, post } from "./requests.js";

export class ClockControls {
  constructor(control) {
    this.control = control;
  }

  /** Returns the cluster's time and its speed. */
  state() {
    return get(this.control, "/clock/show");
  }

  /** Stops the time. */
  freeze() {
    return post(this.control, "/clock/freeze");
  }

  /**
   * Lets the time pass, after `freeze` or at another speed: with a speed of 60, an hour passes in a
   * minute.
   */
  run(options) {
    return post(this.control, "/clock/run", { ...options });
  }

  /** Moves the time forward by a duration, such as 10m, and returns when all is done. */
  advance(duration) {
    return post(this.control, "/clock/advance", { duration });
  }

  /** Moves the time forward to a moment, like `advance`. */
  set(moment) {
    return post(this.control, "/clock/set", { moment });
  }
}

export class SchemasControls {
  constructor(control) {
    this.control = control;
  }

  /** Registers a schema and returns its version. */
  register(subject, schema, options) {
    return post(this.control, "/schema/register", { subject, schema, ...options });
  }

  /** Returns the names of all subjects. */
  subjects(options) {
    return get(this.control, "/schema/list", { ...options });
  }

  /** Returns a version of a subject. */
  get(subject, options) {
    return get(this.control, "/schema/show", { subject, ...options });
  }

  /** Returns whether a schema could be registered in a subject, with the reasons why not. */
  check(subject, schema, options) {
    return get(this.control, "/schema/check", { subject, schema, ...options });
  }

  /** Deletes the versions of a subject and returns their numbers. */
  delete(subject, options) {
    return post(this.control, "/schema/delete", { subject, ...options });
  }

  /** Sets the compatibility level of a subject, or that of all subjects without one. */
  setCompatibility(level, options) {
    return post(this.control, "/schema/compatibility", { level, ...options });
  }
}

export class WireControls {
  constructor(control) {
    this.control = control;
  }

  /** Returns the number that the next entry will get. */
  mark() {
    return get(this.control, "/wire/mark");
  }

  /** Returns the exchanges and events from a number on, as JSON objects. */
  entries(options) {
    return get(this.control, "/wire/list", { ...options });
  }

  /**
   * Returns a sequence diagram of the exchanges and events from a number on: clients, nodes, and
   * arrows with API and version.
   */
  diagram(options) {
    return get(this.control, "/wire/diagram", { ...options });
  }

  /** Returns what the exchanges and events from a number on show, in lines of at most 120 columns. */
  story(options) {
    return get(this.control, "/wire/story", { ...options });
  }
}

export class Controls {
  constructor(control) {
    this.control = control;
    this.clock = new ClockControls(control);
    this.schemas = new SchemasControls(control);
    this.wire = new WireControls(control);
  }

  /**
   * Returns the access control entries in the order in which they were added; none if the cluster
   * has no authorizer.
   */
  acls() {
    return get(this.control, "/acl/list");
  }

  /** Returns the users with a password for PLAIN or SCRAM credentials, and the super users, by name. */
  users() {
    return get(this.control, "/user/list");
  }

  /** Writes what all clients and brokers send to a file for Wireshark and `odradek explain`. */
  startCapture(file, options) {
    return post(this.control, "/capture/start", { file, ...options });
  }

  /** Ends the capture and returns its size. */
  stopCapture() {
    return post(this.control, "/capture/stop");
  }

  /** Returns the last pushes of metrics of all nodes, the oldest first. */
  clientMetrics() {
    return get(this.control, "/telemetry/list");
  }

  /** Stops a node: closes its connections and moves its partitions and groups to other nodes. */
  stopNode(node, options) {
    return post(this.control, "/node/stop", { node, ...options });
  }

  /** Starts a stopped node on the same ports as before and returns once it accepts connections. */
  startNode(node) {
    return post(this.control, "/node/start", { node });
  }

  /** Suspends a node, as SIGSTOP does: clients can connect, but get no answer. */
  pauseNode(node) {
    return post(this.control, "/node/pause", { node });
  }

  /** Continues a paused node. */
  resumeNode(node) {
    return post(this.control, "/node/resume", { node });
  }

  /** Cuts a node off from clients and from the other nodes. */
  isolate(node) {
    return post(this.control, "/node/isolate", { node });
  }

  /** Reconnects an isolated node. */
  rejoin(node) {
    return post(this.control, "/node/rejoin", { node });
  }

  /** Adds a node with the settings of the first one, on free ports, and returns its id. */
  addNode(options) {
    return post(this.control, "/node/add", { ...options });
  }

  /** Removes a node for good. */
  removeNode(node) {
    return post(this.control, "/node/remove", { node });
  }

  /** Returns all open connections in the order in which they were opened. */
  connections() {
    return get(this.control, "/connection/list");
  }

  /**
   * Returns the requests that are not answered yet, with what they wait for, in the order of their
   * connections.
   */
  waitingRequests() {
    return get(this.control, "/connection/waiting");
  }

  /** Adds a fault: the requests that meet all criteria are hit by all acts. */
  fault(options) {
    return post(this.control, "/fault/add", { ...options });
  }

  /** Returns the faults of the cluster in the order in which they are consulted. */
  listFaults() {
    return get(this.control, "/fault/list");
  }

  /** Returns when a fault has hit this many requests. */
  waitForFault(fault, options) {
    return get(this.control, "/fault/wait", { fault, ...options });
  }

  /** Removes a fault, serves the requests that it holds, and returns what it has hit. */
  removeFault(fault) {
    return post(this.control, "/fault/remove", { fault });
  }

  /** Removes all faults and serves the requests that they hold. */
  removeFaults() {
    return post(this.control, "/fault/clear");
  }

  /**
   * Adds a fault that hits one request: the n-th of an API by a client in a role, counted from now
   * on.
   */
  faultAt(point) {
    return post(this.control, "/fault/point", { point });
  }

  /** Damages stored data once, as no correct Kafka does, to see whether a test notices it. */
  damage(order) {
    return post(this.control, "/fault/damage", { order });
  }

  /** Loses the acknowledgements of a topic: the records are appended, then the connection is reset. */
  lostAcks(topic, options) {
    return post(this.control, "/fault/preset/lost-acks", { topic, ...options });
  }

  /** Resets the connection of some requests, before anything is done, as an unreliable network does. */
  flaky(percent) {
    return post(this.control, "/fault/preset/flaky", { percent });
  }

  /**
   * Lets all requests to a node hang while their connections stay open, as a firewall does that
   * drops packets.
   */
  firewall(node) {
    return post(this.control, "/fault/preset/firewall", { node });
  }

  /** Delays all responses. */
  slowNetwork(ms) {
    return post(this.control, "/fault/preset/slow-network", { ms });
  }

  /** Elects other leaders for a topic. */
  leaderElection(topic, takes) {
    return post(this.control, "/fault/preset/leader-election", { topic, takes });
  }

  /** Moves the coordinator of a group to another node, if there is one. */
  coordinatorMoves(group) {
    return post(this.control, "/fault/preset/coordinator-moves", { group });
  }

  /** Lets a node refuse all records with KAFKA_STORAGE_ERROR. */
  diskFull(node) {
    return post(this.control, "/fault/preset/disk-full", { node });
  }

  /**
   * Delays what a node writes, as a slow disk does: records, committed offsets and ends of
   * transactions.
   */
  diskSlow(node, ms) {
    return post(this.control, "/fault/preset/disk-slow", { node, ms });
  }

  /**
   * Lets all nodes crash within the next write to a topic, so that a part of its last batch is in
   * the file, and starts them again.
   */
  tornWrite(topic) {
    return post(this.control, "/fault/preset/torn-write", { topic });
  }

  /** Refuses records of a topic with acks=all, as if fewer than min.insync.replicas were in sync. */
  notEnoughReplicas(topic) {
    return post(this.control, "/fault/preset/not-enough-replicas", { topic });
  }

  /** Stops and starts one node after the other, and returns when all have been restarted. */
  rollingRestart(pauseS) {
    return post(this.control, "/fault/preset/rolling-restart", { pauseS });
  }

  /**
   * Crashes all running nodes at once and starts them again, and returns when they accept
   * connections.
   */
  outage(seconds) {
    return post(this.control, "/fault/preset/outage", { seconds });
  }

  /**
   * Makes the cluster see the crash of a client: its connections end, and its sessions in groups
   * expire, so that groups rebalance.
   */
  crashClient(clientId) {
    return post(this.control, "/fault/preset/crash-client", { clientId });
  }

  /** Returns all groups. */
  groups() {
    return get(this.control, "/group/list");
  }

  /** Returns a group with its members, their partitions, the committed offsets and the lag. */
  showGroup(group) {
    return get(this.control, "/group/show", { group });
  }

  /** Waits until a group fulfils all given conditions, and returns it. */
  waitForGroup(group, options) {
    return get(this.control, "/group/wait", { group, ...options });
  }

  /** Returns the identity of the cluster, its size, and its problems. */
  status() {
    return get(this.control, "/cluster/show");
  }

  /** Returns all nodes with their states and listeners, in the order of their ids. */
  nodes() {
    return get(this.control, "/node/list");
  }

  /** Creates a topic and returns its description. */
  createTopic(topic, options) {
    return post(this.control, "/topic/create", { topic, ...options });
  }

  /** Deletes a topic with its records and the offsets that groups have committed for it. */
  deleteTopic(topic) {
    return post(this.control, "/topic/delete", { topic });
  }

  /** Returns all topics with their partitions, in the order of their creation. */
  topics() {
    return get(this.control, "/topic/list");
  }

  /** Writes records and returns their places in the same order. */
  produce(topic, records, options) {
    return post(this.control, "/record/produce", { topic, records, ...options });
  }

  /**
   * Returns the records of a topic in the order of partitions and offsets, including open and
   * aborted transactions.
   */
  records(topic, options) {
    return get(this.control, "/record/list", { topic, ...options });
  }

  /**
   * Returns the records of a topic as `records` does, with keys and values as JSON if they begin
   * with the id of a schema.
   */
  decodedRecords(topic, options) {
    return get(this.control, "/record/decode", { topic, ...options });
  }

  /**
   * Waits until a topic has `n` records that consumers can read (read_committed), and returns all of
   * its records.
   */
  waitForRecords(topic, n, options) {
    return get(this.control, "/record/wait", { topic, n, ...options });
  }

  /** Makes an in-sync replica the leader of a partition, in a new leader epoch. */
  moveLeader(topic, partition, node) {
    return post(this.control, "/leader/move", { topic, partition, node });
  }

  /**
   * Elects leaders where necessary, as kafka-leader-election does, and returns the elections that
   * were held.
   */
  elect(kind, options) {
    return post(this.control, "/leader/elect", { kind, ...options });
  }

  /** Makes a node the coordinator of a group or transactional id. */
  moveCoordinator(node, options) {
    return post(this.control, "/coordinator/move", { node, ...options });
  }

  /** Replaces the replicas of a partition. */
  setReplicas(topic, partition, replicas) {
    return post(this.control, "/replica/set", { topic, partition, replicas });
  }

  /** Keeps reassignments in progress, also those that clients start, until `release_reassignments`. */
  holdReassignments() {
    return post(this.control, "/reassignment/hold");
  }

  /** Completes the reassignments that were held, and lets new ones complete by themselves again. */
  releaseReassignments() {
    return post(this.control, "/reassignment/release");
  }

  /**
   * Makes a follower stop, or follow at a distance of `records`, until `catch_up` or until it is
   * elected leader.
   */
  lag(topic, partition, node, options) {
    return post(this.control, "/replica/lag", { topic, partition, node, ...options });
  }

  /** Lets a follower that lags catch up. */
  catchUp(topic, partition, node) {
    return post(this.control, "/replica/catch-up", { topic, partition, node });
  }

  /** Keeps the present state of the cluster as a snapshot for `restore`, and returns it. */
  snapshot() {
    return post(this.control, "/state/snapshot");
  }

  /** Brings the cluster back to the state of a snapshot, and closes all connections with RST. */
  restore(snapshot) {
    return post(this.control, "/state/restore", { snapshot });
  }

  /** Releases a snapshot and the memory that only it uses. */
  closeSnapshot(snapshot) {
    return post(this.control, "/state/close", { snapshot });
  }

  /** Returns the snapshots that are not closed, oldest first. */
  snapshots() {
    return get(this.control, "/state/list");
  }

  /** Brings the cluster back to the state after its start, and closes all connections with RST. */
  reset() {
    return post(this.control, "/state/reset");
  }

  /**
   * Saves the present state to a file, which replaces an existing one, and returns the size of the
   * file in bytes.
   */
  save(file) {
    return post(this.control, "/state/save", { file });
  }

  /**
   * Writes the cluster as log directories, on which Apache Kafka 4.3 or later starts, and returns
   * the nodes.
   */
  exportLogDirs(directory) {
    return post(this.control, "/state/export-log-dirs", { directory });
  }

  /** Returns all transactional ids with their transactions. */
  transactions() {
    return get(this.control, "/transaction/list");
  }

  /**
   * Returns the mistakes of clients that the record shows, each with the exchanges that show it and
   * the settings to change.
   */
  doctor(options) {
    return get(this.control, "/doctor", { ...options });
  }
}
