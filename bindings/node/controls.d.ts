// Generated from the OpenAPI document of odradek by `make docs`. Do not edit.

/** A number of seconds, or a number with one of the units ms, s, m, h, d and w, such as "10m". */
export type Duration = number | string;

/** Bytes: a string if they are UTF-8, otherwise a Buffer. */
export type Bytes = string | Uint8Array;

export class ClockControls {

  /** Returns the cluster's time and its speed. */
  state(): Promise<ClockState>;

  /** Stops the time. */
  freeze(): Promise<ClockState>;

  /**
   * Lets the time pass, after `freeze` or at another speed: with a speed of 60, an hour passes in a
   * minute.
   */
  run(options?: {
    /** How many times as fast as the wall clock the time passes. */
    speed?: number;
  }): Promise<ClockState>;

  /** Moves the time forward by a duration, such as 10m, and returns when all is done. */
  advance(duration: Duration): Promise<ClockState>;

  /** Moves the time forward to a moment, like `advance`. */
  set(moment: string): Promise<ClockState>;
}

export class SchemasControls {

  /** Registers a schema and returns its version. */
  register(subject: string, schema: { [key: string]: unknown }, options?: {
    /** The language of the schema. */
    schemaType?: string;
    /** The versions that the schema refers to: objects with name, subject and version. */
    references?: SchemaReference[];
  }): Promise<SchemaVersion>;

  /** Returns the names of all subjects. */
  subjects(options?: {
    /** Also subjects that are soft deleted. */
    deleted?: boolean;
  }): Promise<string[]>;

  /** Returns a version of a subject. */
  get(subject: string, options?: {
    /** A version; by default the latest one. */
    version?: number;
  }): Promise<SchemaVersion>;

  /** Returns whether a schema could be registered in a subject, with the reasons why not. */
  check(subject: string, schema: { [key: string]: unknown }, options?: {
    /** Compare with this version only; by default, the level decides. */
    version?: number;
    /** The language of the schema. */
    schemaType?: string;
    /** The versions that the schema refers to: objects with name, subject and version. */
    references?: SchemaReference[];
  }): Promise<SchemaCheck>;

  /** Deletes the versions of a subject and returns their numbers. */
  delete(subject: string, options?: {
    /** Only this version; by default all versions. */
    version?: number;
    /** Delete what is soft deleted, so that its id is unknown. */
    permanent?: boolean;
  }): Promise<number[]>;

  /** Sets the compatibility level of a subject, or that of all subjects without one. */
  setCompatibility(level: string, options?: {
    /** A subject; by default all without a level. */
    subject?: string;
  }): Promise<void>;
}

export class WireControls {

  /** Returns the number that the next entry will get. */
  mark(): Promise<number>;

  /** Returns the exchanges and events from a number on, as JSON objects. */
  entries(options?: {
    /** The number of the first entry, such as that of an earlier `mark`. */
    since?: number;
    /** A filter, such as api=Produce and error. */
    filter?: string;
    /** Whether decoded requests and responses are included. */
    verbose?: boolean;
  }): Promise<({ [key: string]: unknown })[]>;

  /**
   * Returns a sequence diagram of the exchanges and events from a number on: clients, nodes, and
   * arrows with API and version.
   */
  diagram(options?: {
    /** Text, mermaid, svg or html. */
    format?: string;
    /** The number of the first entry, such as that of an earlier `mark`. */
    since?: number;
    /** A filter, such as api=Produce and error. */
    filter?: string;
  }): Promise<string>;

  /** Returns what the exchanges and events from a number on show, in lines of at most 120 columns. */
  story(options?: {
    /** The number of the first entry, such as that of an earlier `mark`. */
    since?: number;
    /** A filter, such as api=Produce and error. */
    filter?: string;
    /** When times begin, in milliseconds since 1970 by the wall clock; 0 is the first entry. */
    beginMs?: number;
  }): Promise<string>;
}

export class Controls {
  readonly clock: ClockControls;
  readonly schemas: SchemasControls;
  readonly wire: WireControls;

  /**
   * Returns the access control entries in the order in which they were added; none if the cluster
   * has no authorizer.
   */
  acls(): Promise<AclInfo[]>;

  /** Returns the users with a password for PLAIN or SCRAM credentials, and the super users, by name. */
  users(): Promise<UserInfo[]>;

  /** Writes what all clients and brokers send to a file for Wireshark and `odradek explain`. */
  startCapture(file: string, options?: {
    /** Canonical shows node n as 127.0.0.n:9092. */
    addresses?: string;
    /** The size at which another file begins; the one before is kept. */
    maxBytes?: number;
  }): Promise<void>;

  /** Ends the capture and returns its size. */
  stopCapture(): Promise<CaptureInfo>;

  /** Returns the last pushes of metrics of all nodes, the oldest first. */
  clientMetrics(): Promise<ClientMetricsPush[]>;

  /** Stops a node: closes its connections and moves its partitions and groups to other nodes. */
  stopNode(node: number, options?: {
    /** Move leaders at once; otherwise, when the node's session expires, as after a crash. */
    graceful?: boolean;
  }): Promise<void>;

  /** Starts a stopped node on the same ports as before and returns once it accepts connections. */
  startNode(node: number): Promise<void>;

  /** Suspends a node, as SIGSTOP does: clients can connect, but get no answer. */
  pauseNode(node: number): Promise<void>;

  /** Continues a paused node. */
  resumeNode(node: number): Promise<void>;

  /** Cuts a node off from clients and from the other nodes. */
  isolate(node: number): Promise<void>;

  /** Reconnects an isolated node. */
  rejoin(node: number): Promise<void>;

  /** Adds a node with the settings of the first one, on free ports, and returns its id. */
  addNode(options?: {
    /** The id of the new node; by default the next one. */
    node?: number;
    /** Its rack (broker.rack). */
    rack?: string;
  }): Promise<number>;

  /** Removes a node for good. */
  removeNode(node: number): Promise<void>;

  /** Returns all open connections in the order in which they were opened. */
  connections(): Promise<ConnectionInfo[]>;

  /**
   * Returns the requests that are not answered yet, with what they wait for, in the order of their
   * connections.
   */
  waitingRequests(): Promise<WaitingRequest[]>;

  /** Adds a fault: the requests that meet all criteria are hit by all acts. */
  fault(options?: {
    /** The APIs of the requests, such as Produce. */
    api?: string[];
    /** The lowest version of the API. */
    minVersion?: number;
    /** The highest version of the API. */
    maxVersion?: number;
    /** The id of the node that the client is connected to. */
    node?: number;
    /** The name of the listener. */
    listener?: string;
    /** A pattern for the client id, with * and ?. */
    clientId?: string;
    /** A pattern for name/version of the client library, such as librdkafka/2.*. */
    clientSoftware?: string;
    /** A pattern for the principal, such as User:alice. */
    principal?: string;
    /** A pattern for the address of the client, such as 127.0.0.1. */
    peer?: string;
    /** The id of a connection. */
    connection?: number;
    /** A pattern for the name of a topic; only its part of a request is hit. */
    topic?: string;
    /** Indexes of partitions; only their part of a request is hit. */
    partitions?: number[];
    /** A pattern for the id of a group. */
    group?: string;
    /** A pattern for a transactional id. */
    transactionalId?: string;
    /** A pattern for the subject of a request to the schema registry (api SchemaRegistry). */
    subject?: string;
    /** A pattern for the path of a request to the schema registry, such as /schemas/ids/*. */
    path?: string;
    /** The acks of a Produce: -1 for all, 0 or 1. */
    acks?: number;
    /** How many of the matching requests pass first. */
    skip?: number;
    /** Hits every n-th of the matching requests. */
    every?: number;
    /** How many requests are hit at most. */
    times?: number;
    /** The probability with which a matching request is hit. */
    probability?: number;
    /** The time of the cluster from which on requests are hit; a number is milliseconds since 1970. */
    after?: string;
    /** The time of the cluster until which requests are hit. */
    until?: string;
    /**
     * The error code of the response, such as NOT_LEADER_OR_FOLLOWER; of the schema registry, such as
     * 50003.
     */
    error?: string;
    /** The HTTP status of the schema registry's answer, such as 503. */
    status?: number;
    /** Whether error and drop come before the work (the default) or after it. */
    stage?: string;
    /** Fields of the response and their values, nested as in the response. */
    respond?: { [key: string]: unknown };
    /** How long the response waits, in milliseconds of the cluster's time. */
    delayMs?: number;
    /** How long the response waits in addition at most; the time is random. */
    jitterMs?: number;
    /** The throttle time that the response says, and for which the connection is muted. */
    throttleMs?: number;
    /** Whether the response is not written. */
    drop?: boolean;
    /** How the connection ends when the response is dropped. */
    close?: string;
    /** How many bytes of the dropped response are written before the connection ends. */
    cutAtBytes?: number;
    /** Whether the request is neither read nor answered, while the connection stays open. */
    hang?: boolean;
    /** How long it hangs; without it, until the fault is removed. */
    hangMs?: number;
    /** The rate at which the response is written. */
    bytesPerS?: number;
    /** The size of the pieces in which the response is written. */
    chunkBytes?: number;
    /**
     * What is damaged: the CRC, a record or the end of a fetched batch, or the length or correlation
     * id of the response.
     */
    corrupt?: string;
    /** New connections are refused (also true), accepted and closed, or accepted and never answered. */
    refuse?: string;
  }): Promise<FaultInfo>;

  /** Returns the faults of the cluster in the order in which they are consulted. */
  listFaults(): Promise<FaultInfo[]>;

  /** Returns when a fault has hit this many requests. */
  waitForFault(fault: number, options?: {
    /** How often the fault must have hit. */
    hits?: number;
    /** How long to wait at most, in seconds of the wall clock. */
    timeoutS?: number;
  }): Promise<FaultInfo>;

  /** Removes a fault, serves the requests that it holds, and returns what it has hit. */
  removeFault(fault: number): Promise<FaultInfo>;

  /** Removes all faults and serves the requests that they hold. */
  removeFaults(): Promise<void>;

  /**
   * Adds a fault that hits one request: the n-th of an API by a client in a role, counted from now
   * on.
   */
  faultAt(point: string): Promise<FaultInfo>;

  /** Damages stored data once, as no correct Kafka does, to see whether a test notices it. */
  damage(order: string): Promise<FaultInfo>;

  /** Loses the acknowledgements of a topic: the records are appended, then the connection is reset. */
  lostAcks(topic: string, options?: {
    /** How many acknowledgements are lost. */
    times?: number;
  }): Promise<FaultInfo>;

  /** Resets the connection of some requests, before anything is done, as an unreliable network does. */
  flaky(percent: number): Promise<FaultInfo>;

  /**
   * Lets all requests to a node hang while their connections stay open, as a firewall does that
   * drops packets.
   */
  firewall(node: number): Promise<FaultInfo>;

  /** Delays all responses. */
  slowNetwork(ms: number): Promise<FaultInfo>;

  /** Elects other leaders for a topic. */
  leaderElection(topic: string, takes: Duration): Promise<FaultInfo>;

  /** Moves the coordinator of a group to another node, if there is one. */
  coordinatorMoves(group: string): Promise<FaultInfo>;

  /** Lets a node refuse all records with KAFKA_STORAGE_ERROR. */
  diskFull(node: number): Promise<FaultInfo>;

  /**
   * Delays what a node writes, as a slow disk does: records, committed offsets and ends of
   * transactions.
   */
  diskSlow(node: number, ms: number): Promise<FaultInfo>;

  /**
   * Lets all nodes crash within the next write to a topic, so that a part of its last batch is in
   * the file, and starts them again.
   */
  tornWrite(topic: string): Promise<FaultInfo>;

  /** Refuses records of a topic with acks=all, as if fewer than min.insync.replicas were in sync. */
  notEnoughReplicas(topic: string): Promise<FaultInfo>;

  /** Stops and starts one node after the other, and returns when all have been restarted. */
  rollingRestart(pauseS: number): Promise<void>;

  /**
   * Crashes all running nodes at once and starts them again, and returns when they accept
   * connections.
   */
  outage(seconds: number): Promise<void>;

  /**
   * Makes the cluster see the crash of a client: its connections end, and its sessions in groups
   * expire, so that groups rebalance.
   */
  crashClient(clientId: string): Promise<CrashedClient>;

  /** Returns all groups. */
  groups(): Promise<GroupInfo[]>;

  /** Returns a group with its members, their partitions, the committed offsets and the lag. */
  showGroup(group: string): Promise<GroupInfo>;

  /** Waits until a group fulfils all given conditions, and returns it. */
  waitForGroup(group: string, options?: {
    /** The number of members that the group must have. */
    members?: number;
    /** The state that the group must have, such as Stable or Empty. */
    state?: string;
    /** The highest lag that the group may have, over all partitions. */
    lag?: number;
    /** The topic in which the group must have committed an offset. */
    topic?: string;
    /** The partition of the topic; needed if it has several. */
    partition?: number;
    /** The offset that the group must have committed there, or a later one. */
    committed?: number;
    /** How long to wait at most, in seconds of the wall clock. */
    timeoutS?: number;
  }): Promise<GroupInfo>;

  /** Returns the identity of the cluster, its size, and its problems. */
  status(): Promise<ClusterInfo>;

  /** Returns all nodes with their states and listeners, in the order of their ids. */
  nodes(): Promise<NodeInfo[]>;

  /** Creates a topic and returns its description. */
  createTopic(topic: string, options?: {
    /** The number of partitions; by default num.partitions. */
    partitions?: number;
    /** The number of replicas; by default default.replication.factor. */
    replicationFactor?: number;
    /** Topic settings, such as cleanup.policy. */
    configs?: { [key: string]: unknown };
  }): Promise<TopicInfo>;

  /** Deletes a topic with its records and the offsets that groups have committed for it. */
  deleteTopic(topic: string): Promise<void>;

  /** Returns all topics with their partitions, in the order of their creation. */
  topics(): Promise<TopicInfo[]>;

  /** Writes records and returns their places in the same order. */
  produce(topic: string, records: (NewRecord | Bytes | null)[], options?: {
    /** The partition for all records that name none; by default the key decides. */
    partition?: number;
  }): Promise<RecordPosition[]>;

  /**
   * Returns the records of a topic in the order of partitions and offsets, including open and
   * aborted transactions.
   */
  records(topic: string, options?: {
    /** Only this partition. */
    partition?: number;
    /** Only records from this offset on. */
    offset?: number;
    /** Begin at the first record with this time or a later one. */
    since?: string;
    /** At most this many records of each partition. */
    limit?: number;
    /** Stop in each partition after this many bytes of keys and values. */
    maxBytes?: number;
  }): Promise<Record[]>;

  /**
   * Returns the records of a topic as `records` does, with keys and values as JSON if they begin
   * with the id of a schema.
   */
  decodedRecords(topic: string, options?: {
    /** Only this partition. */
    partition?: number;
    /** Only records from this offset on. */
    offset?: number;
    /** Begin at the first record with this time or a later one. */
    since?: string;
    /** At most this many records of each partition. */
    limit?: number;
    /** Stop in each partition after this many bytes of keys and values. */
    maxBytes?: number;
  }): Promise<DecodedRecord[]>;

  /**
   * Waits until a topic has `n` records that consumers can read (read_committed), and returns all of
   * its records.
   */
  waitForRecords(topic: string, n: number, options?: {
    /** How long to wait at most, in seconds of the wall clock. */
    timeoutS?: number;
  }): Promise<Record[]>;

  /** Makes an in-sync replica the leader of a partition, in a new leader epoch. */
  moveLeader(topic: string, partition: number, node: number): Promise<void>;

  /**
   * Elects leaders where necessary, as kafka-leader-election does, and returns the elections that
   * were held.
   */
  elect(kind: string, options?: {
    /** Only this topic. */
    topic?: string;
    /** Only these partitions of the topic. */
    partitions?: number[];
  }): Promise<Election[]>;

  /** Makes a node the coordinator of a group or transactional id. */
  moveCoordinator(node: number, options?: {
    /** The id of a group. */
    group?: string;
    /** A transactional id, instead of a group. */
    transactionalId?: string;
  }): Promise<void>;

  /** Replaces the replicas of a partition. */
  setReplicas(topic: string, partition: number, replicas: number[]): Promise<void>;

  /** Keeps reassignments in progress, also those that clients start, until `release_reassignments`. */
  holdReassignments(): Promise<void>;

  /** Completes the reassignments that were held, and lets new ones complete by themselves again. */
  releaseReassignments(): Promise<void>;

  /**
   * Makes a follower stop, or follow at a distance of `records`, until `catch_up` or until it is
   * elected leader.
   */
  lag(topic: string, partition: number, node: number, options?: {
    /** The distance at which the replica follows; with 0 it stops where it is. */
    records?: number;
  }): Promise<void>;

  /** Lets a follower that lags catch up. */
  catchUp(topic: string, partition: number, node: number): Promise<void>;

  /** Keeps the present state of the cluster as a snapshot for `restore`, and returns it. */
  snapshot(): Promise<Snapshot>;

  /** Brings the cluster back to the state of a snapshot, and closes all connections with RST. */
  restore(snapshot: number): Promise<void>;

  /** Releases a snapshot and the memory that only it uses. */
  closeSnapshot(snapshot: number): Promise<void>;

  /** Returns the snapshots that are not closed, oldest first. */
  snapshots(): Promise<Snapshot[]>;

  /** Brings the cluster back to the state after its start, and closes all connections with RST. */
  reset(): Promise<void>;

  /**
   * Saves the present state to a file, which replaces an existing one, and returns the size of the
   * file in bytes.
   */
  save(file: string): Promise<number>;

  /**
   * Writes the cluster as log directories, on which Apache Kafka 4.3 or later starts, and returns
   * the nodes.
   */
  exportLogDirs(directory: string): Promise<ExportedNode[]>;

  /** Returns all transactional ids with their transactions. */
  transactions(): Promise<TransactionInfo[]>;

  /**
   * Returns the mistakes of clients that the record shows, each with the exchanges that show it and
   * the settings to change.
   */
  doctor(options?: {
    /** The number of the first entry, such as that of an earlier `mark`. */
    since?: number;
  }): Promise<FindingInfo[]>;
}

/**
 * One access control entry, in Kafka's terms: `pattern_type` is LITERAL or PREFIXED, `permission`
 * is ALLOW or DENY.
 */
export interface AclInfo {
  principal: string;
  permission: string;
  operation: string;
  resourceType: string;
  resourceName: string;
  patternType: string;
  host: string;
}

/**
 * A capture that has been written: its file, the size of all its files, and the error that ended
 * it, if there was one.
 */
export interface CaptureInfo {
  file: string;
  writtenBytes: number;
  error: string | null;
}

/** A value of a metric. */
export interface ClientMetric {
  name: string;
  unit: string;
  kind: string;
  attributes: { [key: string]: unknown };
  timeMs: number;
  value: number | null;
}

/** A push of metrics by a client. */
export interface ClientMetricsPush {
  timeMs: number;
  node: number;
  clientInstanceId: string;
  clientId: string;
  softwareName: string;
  softwareVersion: string;
  terminating: boolean;
  metrics: ClientMetric[];
  problem: string | null;
}

/**
 * The cluster's time, and how many times as fast as the wall clock it passes (0 while it is
 * frozen).
 */
export interface ClockState {
  now: string;
  speed: number;
  movingTo: string | null;
}

/** The cluster. */
export interface ClusterInfo {
  version: string;
  clusterId: string;
  controller: number;
  bootstrapServers: string;
  nodes: number;
  topics: number;
  partitions: number;
  groups: number;
  connections: number;
  logBytes: number;
  maxMemoryBytes: number | null;
  problems: string[];
}

/** An open connection. */
export interface ConnectionInfo {
  connection: number;
  node: number;
  listener: string;
  host: string;
  port: number;
  clientId: string;
  softwareName: string;
  softwareVersion: string;
  principal: string;
  waitsFor: string | null;
}

/**
 * The number of connections that a crash of a client has ended, and the groups in which its
 * sessions have expired.
 */
export interface CrashedClient {
  connections: number;
  groups: string[];
}

/** A key or value with the id of a schema. */
export interface DecodedData {
  schemaId: number;
  schemaType: string | null;
  subjects: string[];
  data: string | null;
  error: string | null;
}

/**
 * A stored record with what its key and value are by their schemas, null for data that do not
 * begin with the id of a schema.
 */
export interface DecodedRecord {
  topic: string;
  partition: number;
  offset: number;
  timestamp: number;
  key: Bytes | null;
  value: Bytes | null;
  headers: ([string, Bytes | null])[];
  transaction: string | null;
  decodedKey: DecodedData | null;
  decodedValue: DecodedData | null;
}

/** A partition that has elected a leader. */
export interface Election {
  topic: string;
  partition: number;
  leader: number;
  leaderEpoch: number;
}

/** A request that a fault has hit. */
export interface Exchange {
  timeMs: number;
  node: number;
  connection: number;
  clientId: string;
  api: string;
  version: number;
  correlationId: number;
  topics: string[];
}

/** The log directory of a node that was written for Apache Kafka. */
export interface ExportedNode {
  node: number;
  logBytes: number;
  command: string;
}

/** A fault: its number, its options, and what it has hit. */
export interface FaultInfo {
  fault: number;
  options: string;
  hits: number;
  exchanges: Exchange[];
  missed: string;
  removed: boolean;
}

/**
 * A mistake of a client: what happened, what to change, the settings to look up, and what shows
 * it.
 */
export interface FindingInfo {
  name: string;
  client: string;
  problem: string;
  advice: string;
  settings: string[];
  exchanges: number[];
  lines: string[];
}

/** A group. */
export interface GroupInfo {
  groupId: string;
  type: string;
  state: string;
  protocol: string;
  epoch: number;
  coordinator: number;
  members: MemberInfo[];
  offsets: OffsetInfo[];
  lag: number | null;
}

/**
 * One listener of a node, with the address on which it listens and the one that it advertises to
 * clients.
 */
export interface ListenerInfo {
  name: string;
  securityProtocol: string;
  host: string;
  port: number;
  advertised: string;
}

/** One member of a group. */
export interface MemberInfo {
  memberId: string;
  instanceId: string | null;
  clientId: string;
  clientHost: string;
  topics: string[];
  assignment: { [key: string]: number[] };
}

/** A record to write. */
export interface NewRecord {
  value?: Bytes | null;
  key?: Bytes | null;
  headers?: { [key: string]: Bytes | null };
  timestamp?: number;
  partition?: number;
}

/** One node. */
export interface NodeInfo {
  node: number;
  state: string;
  fenced: boolean;
  controller: boolean;
  rack: string | null;
  listeners: ListenerInfo[];
  leaders: number;
  replicas: number;
  outOfSync: number;
  connections: number;
}

/** The progress of a group in a partition. */
export interface OffsetInfo {
  topic: string;
  partition: number;
  committed: number | null;
  metadata: string;
  lag: number;
}

/**
 * One partition: its leader (-1: none), replicas, in-sync replicas, and the offsets between which
 * there are records.
 */
export interface PartitionInfo {
  partition: number;
  leader: number;
  leaderEpoch: number;
  replicas: number[];
  isr: number[];
  startOffset: number;
  highWatermark: number;
  endOffset: number;
  sizeBytes: number;
}

/** A stored record. */
export interface Record {
  topic: string;
  partition: number;
  offset: number;
  timestamp: number;
  key: Bytes | null;
  value: Bytes | null;
  headers: ([string, Bytes | null])[];
  transaction: string | null;
}

/** The place of a record that was written. */
export interface RecordPosition {
  partition: number;
  offset: number;
}

/** Whether a schema is compatible with a subject, and the reasons why it is not. */
export interface SchemaCheck {
  isCompatible: boolean;
  messages: string[];
}

/** A reference of a schema to a version of a subject, under the name by which the schema calls it. */
export interface SchemaReference {
  name: string;
  subject: string;
  version: number;
}

/** A version of a subject. */
export interface SchemaVersion {
  subject: string;
  version: number;
  id: number;
  type: string;
  schema: string;
}

/** A handle of a snapshot. */
export interface Snapshot {
  id: number;
  takenMs: number;
  topics: number;
  logBytes: number;
}

/** One topic with the configs that differ from the defaults. */
export interface TopicInfo {
  name: string;
  internal: boolean;
  configs: { [key: string]: string };
  partitions: PartitionInfo[];
}

/** A transactional id and its last transaction. */
export interface TransactionInfo {
  transactionalId: string;
  producerId: number;
  producerEpoch: number;
  state: string;
  timeoutMs: number;
  started: string | null;
  partitions: { [key: string]: number[] };
  coordinator: number;
}

/** One user. */
export interface UserInfo {
  name: string;
  mechanisms: string[];
  superUser: boolean;
}

/** A request that is not answered yet, and what it waits for, in words. */
export interface WaitingRequest {
  connection: number;
  node: number;
  peer: string;
  clientId: string;
  software: string;
  api: string;
  version: number;
  waitsFor: string[];
  leftMs: number | null;
}
