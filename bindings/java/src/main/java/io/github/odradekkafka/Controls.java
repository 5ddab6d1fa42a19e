// Generated from the OpenAPI document of odradek by `make docs`. Do not edit.
package io.github.odradekkafka;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The controls of a cluster, with the types of their options and results. {@link Odradek} has them all. */
public abstract class Controls {
    /** Sends a request and returns the JSON value of the answer. */
    abstract Object get(String path, Map<String, Object> arguments);

    /** Sends a request and returns the JSON value of the answer, null if it has none. */
    abstract Object post(String path, Map<String, Object> arguments);

    private final ClockControls clock = new ClockControls();

    /** Returns the controls whose names begin with `clock`. */
    public ClockControls clock() {
        return clock;
    }

    private final SchemasControls schemas = new SchemasControls();

    /** Returns the controls whose names begin with `schemas`. */
    public SchemasControls schemas() {
        return schemas;
    }

    private final WireControls wire = new WireControls();

    /** Returns the controls whose names begin with `wire`. */
    public WireControls wire() {
        return wire;
    }

    /**
     * Returns the access control entries in the order in which they were added; none if the cluster has no
     * authorizer.
     */
    public List<AclInfo> acls() {
        return Json.list(Controls.this.get("/acl/list", Options.arguments()), AclInfo::of);
    }

    /** Returns the users with a password for PLAIN or SCRAM credentials, and the super users, by name. */
    public List<UserInfo> users() {
        return Json.list(Controls.this.get("/user/list", Options.arguments()), UserInfo::of);
    }

    /** Writes what all clients and brokers send to a file for Wireshark and `odradek explain`. */
    public void startCapture(String file) {
        Controls.this.post("/capture/start", Options.arguments("file", file));
    }

    /** Writes what all clients and brokers send to a file for Wireshark and `odradek explain`. */
    public void startCapture(String file, Consumer<StartCaptureOptions> with) {
        StartCaptureOptions options = new StartCaptureOptions();
        with.accept(options);
        Controls.this.post("/capture/start", options.with("file", file));
    }

    /** Ends the capture and returns its size. */
    public CaptureInfo stopCapture() {
        return CaptureInfo.of(Controls.this.post("/capture/stop", Options.arguments()));
    }

    /** Returns the last pushes of metrics of all nodes, the oldest first. */
    public List<ClientMetricsPush> clientMetrics() {
        return Json.list(Controls.this.get("/telemetry/list", Options.arguments()), ClientMetricsPush::of);
    }

    /** Stops a node: closes its connections and moves its partitions and groups to other nodes. */
    public void stopNode(long node) {
        Controls.this.post("/node/stop", Options.arguments("node", node));
    }

    /** Stops a node: closes its connections and moves its partitions and groups to other nodes. */
    public void stopNode(long node, Consumer<StopNodeOptions> with) {
        StopNodeOptions options = new StopNodeOptions();
        with.accept(options);
        Controls.this.post("/node/stop", options.with("node", node));
    }

    /** Starts a stopped node on the same ports as before and returns once it accepts connections. */
    public void startNode(long node) {
        Controls.this.post("/node/start", Options.arguments("node", node));
    }

    /** Suspends a node, as SIGSTOP does: clients can connect, but get no answer. */
    public void pauseNode(long node) {
        Controls.this.post("/node/pause", Options.arguments("node", node));
    }

    /** Continues a paused node. */
    public void resumeNode(long node) {
        Controls.this.post("/node/resume", Options.arguments("node", node));
    }

    /** Cuts a node off from clients and from the other nodes. */
    public void isolate(long node) {
        Controls.this.post("/node/isolate", Options.arguments("node", node));
    }

    /** Reconnects an isolated node. */
    public void rejoin(long node) {
        Controls.this.post("/node/rejoin", Options.arguments("node", node));
    }

    /** Adds a node with the settings of the first one, on free ports, and returns its id. */
    public long addNode() {
        return Json.integer(Controls.this.post("/node/add", Options.arguments()));
    }

    /** Adds a node with the settings of the first one, on free ports, and returns its id. */
    public long addNode(Consumer<AddNodeOptions> with) {
        AddNodeOptions options = new AddNodeOptions();
        with.accept(options);
        return Json.integer(Controls.this.post("/node/add", options.with()));
    }

    /** Removes a node for good. */
    public void removeNode(long node) {
        Controls.this.post("/node/remove", Options.arguments("node", node));
    }

    /** Returns all open connections in the order in which they were opened. */
    public List<ConnectionInfo> connections() {
        return Json.list(Controls.this.get("/connection/list", Options.arguments()), ConnectionInfo::of);
    }

    /** Returns the requests that are not answered yet, with what they wait for, in the order of their connections. */
    public List<WaitingRequest> waitingRequests() {
        return Json.list(Controls.this.get("/connection/waiting", Options.arguments()), WaitingRequest::of);
    }

    /** Adds a fault: the requests that meet all criteria are hit by all acts. */
    public FaultInfo fault() {
        return FaultInfo.of(Controls.this.post("/fault/add", Options.arguments()));
    }

    /** Adds a fault: the requests that meet all criteria are hit by all acts. */
    public FaultInfo fault(Consumer<FaultOptions> with) {
        FaultOptions options = new FaultOptions();
        with.accept(options);
        return FaultInfo.of(Controls.this.post("/fault/add", options.with()));
    }

    /** Returns the faults of the cluster in the order in which they are consulted. */
    public List<FaultInfo> listFaults() {
        return Json.list(Controls.this.get("/fault/list", Options.arguments()), FaultInfo::of);
    }

    /** Returns when a fault has hit this many requests. */
    public FaultInfo waitForFault(long fault) {
        return FaultInfo.of(Controls.this.get("/fault/wait", Options.arguments("fault", fault)));
    }

    /** Returns when a fault has hit this many requests. */
    public FaultInfo waitForFault(long fault, Consumer<WaitForFaultOptions> with) {
        WaitForFaultOptions options = new WaitForFaultOptions();
        with.accept(options);
        return FaultInfo.of(Controls.this.get("/fault/wait", options.with("fault", fault)));
    }

    /** Removes a fault, serves the requests that it holds, and returns what it has hit. */
    public FaultInfo removeFault(long fault) {
        return FaultInfo.of(Controls.this.post("/fault/remove", Options.arguments("fault", fault)));
    }

    /** Removes all faults and serves the requests that they hold. */
    public void removeFaults() {
        Controls.this.post("/fault/clear", Options.arguments());
    }

    /** Adds a fault that hits one request: the n-th of an API by a client in a role, counted from now on. */
    public FaultInfo faultAt(String point) {
        return FaultInfo.of(Controls.this.post("/fault/point", Options.arguments("point", point)));
    }

    /** Damages stored data once, as no correct Kafka does, to see whether a test notices it. */
    public FaultInfo damage(String order) {
        return FaultInfo.of(Controls.this.post("/fault/damage", Options.arguments("order", order)));
    }

    /** Loses the acknowledgements of a topic: the records are appended, then the connection is reset. */
    public FaultInfo lostAcks(String topic) {
        return FaultInfo.of(Controls.this.post("/fault/preset/lost-acks", Options.arguments("topic", topic)));
    }

    /** Loses the acknowledgements of a topic: the records are appended, then the connection is reset. */
    public FaultInfo lostAcks(String topic, Consumer<LostAcksOptions> with) {
        LostAcksOptions options = new LostAcksOptions();
        with.accept(options);
        return FaultInfo.of(Controls.this.post("/fault/preset/lost-acks", options.with("topic", topic)));
    }

    /** Resets the connection of some requests, before anything is done, as an unreliable network does. */
    public FaultInfo flaky(double percent) {
        return FaultInfo.of(Controls.this.post("/fault/preset/flaky", Options.arguments("percent", percent)));
    }

    /** Lets all requests to a node hang while their connections stay open, as a firewall does that drops packets. */
    public FaultInfo firewall(long node) {
        return FaultInfo.of(Controls.this.post("/fault/preset/firewall", Options.arguments("node", node)));
    }

    /** Delays all responses. */
    public FaultInfo slowNetwork(long ms) {
        return FaultInfo.of(Controls.this.post("/fault/preset/slow-network", Options.arguments("ms", ms)));
    }

    /** Elects other leaders for a topic. */
    public FaultInfo leaderElection(String topic, Duration takes) {
        return FaultInfo.of(Controls.this.post("/fault/preset/leader-election", Options.arguments("topic", topic, "takes", takes)));
    }

    /** Moves the coordinator of a group to another node, if there is one. */
    public FaultInfo coordinatorMoves(String group) {
        return FaultInfo.of(Controls.this.post("/fault/preset/coordinator-moves", Options.arguments("group", group)));
    }

    /** Lets a node refuse all records with KAFKA_STORAGE_ERROR. */
    public FaultInfo diskFull(long node) {
        return FaultInfo.of(Controls.this.post("/fault/preset/disk-full", Options.arguments("node", node)));
    }

    /** Delays what a node writes, as a slow disk does: records, committed offsets and ends of transactions. */
    public FaultInfo diskSlow(long node, long ms) {
        return FaultInfo.of(Controls.this.post("/fault/preset/disk-slow", Options.arguments("node", node, "ms", ms)));
    }

    /**
     * Lets all nodes crash within the next write to a topic, so that a part of its last batch is in the file, and
     * starts them again.
     */
    public FaultInfo tornWrite(String topic) {
        return FaultInfo.of(Controls.this.post("/fault/preset/torn-write", Options.arguments("topic", topic)));
    }

    /** Refuses records of a topic with acks=all, as if fewer than min.insync.replicas were in sync. */
    public FaultInfo notEnoughReplicas(String topic) {
        return FaultInfo.of(Controls.this.post("/fault/preset/not-enough-replicas", Options.arguments("topic", topic)));
    }

    /** Stops and starts one node after the other, and returns when all have been restarted. */
    public void rollingRestart(double pauseS) {
        Controls.this.post("/fault/preset/rolling-restart", Options.arguments("pause_s", pauseS));
    }

    /** Crashes all running nodes at once and starts them again, and returns when they accept connections. */
    public void outage(double seconds) {
        Controls.this.post("/fault/preset/outage", Options.arguments("seconds", seconds));
    }

    /**
     * Makes the cluster see the crash of a client: its connections end, and its sessions in groups expire, so that
     * groups rebalance.
     */
    public CrashedClient crashClient(String clientId) {
        return CrashedClient.of(Controls.this.post("/fault/preset/crash-client", Options.arguments("client_id", clientId)));
    }

    /** Returns all groups. */
    public List<GroupInfo> groups() {
        return Json.list(Controls.this.get("/group/list", Options.arguments()), GroupInfo::of);
    }

    /** Returns a group with its members, their partitions, the committed offsets and the lag. */
    public GroupInfo showGroup(String group) {
        return GroupInfo.of(Controls.this.get("/group/show", Options.arguments("group", group)));
    }

    /** Waits until a group fulfils all given conditions, and returns it. */
    public GroupInfo waitForGroup(String group) {
        return GroupInfo.of(Controls.this.get("/group/wait", Options.arguments("group", group)));
    }

    /** Waits until a group fulfils all given conditions, and returns it. */
    public GroupInfo waitForGroup(String group, Consumer<WaitForGroupOptions> with) {
        WaitForGroupOptions options = new WaitForGroupOptions();
        with.accept(options);
        return GroupInfo.of(Controls.this.get("/group/wait", options.with("group", group)));
    }

    /** Returns the identity of the cluster, its size, and its problems. */
    public ClusterInfo status() {
        return ClusterInfo.of(Controls.this.get("/cluster/show", Options.arguments()));
    }

    /** Returns all nodes with their states and listeners, in the order of their ids. */
    public List<NodeInfo> nodes() {
        return Json.list(Controls.this.get("/node/list", Options.arguments()), NodeInfo::of);
    }

    /** Creates a topic and returns its description. */
    public TopicInfo createTopic(String topic) {
        return TopicInfo.of(Controls.this.post("/topic/create", Options.arguments("topic", topic)));
    }

    /** Creates a topic and returns its description. */
    public TopicInfo createTopic(String topic, Consumer<CreateTopicOptions> with) {
        CreateTopicOptions options = new CreateTopicOptions();
        with.accept(options);
        return TopicInfo.of(Controls.this.post("/topic/create", options.with("topic", topic)));
    }

    /** Deletes a topic with its records and the offsets that groups have committed for it. */
    public void deleteTopic(String topic) {
        Controls.this.post("/topic/delete", Options.arguments("topic", topic));
    }

    /** Returns all topics with their partitions, in the order of their creation. */
    public List<TopicInfo> topics() {
        return Json.list(Controls.this.get("/topic/list", Options.arguments()), TopicInfo::of);
    }

    /** Writes records and returns their places in the same order. */
    public List<RecordPosition> produce(String topic, List<NewRecord> records) {
        return Json.list(Controls.this.post("/record/produce", Options.arguments("topic", topic, "records", records)), RecordPosition::of);
    }

    /** Writes records and returns their places in the same order. */
    public List<RecordPosition> produce(String topic, List<NewRecord> records, Consumer<ProduceOptions> with) {
        ProduceOptions options = new ProduceOptions();
        with.accept(options);
        return Json.list(Controls.this.post("/record/produce", options.with("topic", topic, "records", records)), RecordPosition::of);
    }

    /**
     * Returns the records of a topic in the order of partitions and offsets, including open and aborted transactions.
     */
    public List<Record> records(String topic) {
        return Json.list(Controls.this.get("/record/list", Options.arguments("topic", topic)), Record::of);
    }

    /**
     * Returns the records of a topic in the order of partitions and offsets, including open and aborted transactions.
     */
    public List<Record> records(String topic, Consumer<RecordsOptions> with) {
        RecordsOptions options = new RecordsOptions();
        with.accept(options);
        return Json.list(Controls.this.get("/record/list", options.with("topic", topic)), Record::of);
    }

    /**
     * Returns the records of a topic as `records` does, with keys and values as JSON if they begin with the id of a
     * schema.
     */
    public List<DecodedRecord> decodedRecords(String topic) {
        return Json.list(Controls.this.get("/record/decode", Options.arguments("topic", topic)), DecodedRecord::of);
    }

    /**
     * Returns the records of a topic as `records` does, with keys and values as JSON if they begin with the id of a
     * schema.
     */
    public List<DecodedRecord> decodedRecords(String topic, Consumer<DecodedRecordsOptions> with) {
        DecodedRecordsOptions options = new DecodedRecordsOptions();
        with.accept(options);
        return Json.list(Controls.this.get("/record/decode", options.with("topic", topic)), DecodedRecord::of);
    }

    /** Waits until a topic has `n` records that consumers can read (read_committed), and returns all of its records. */
    public List<Record> waitForRecords(String topic, long n) {
        return Json.list(Controls.this.get("/record/wait", Options.arguments("topic", topic, "n", n)), Record::of);
    }

    /** Waits until a topic has `n` records that consumers can read (read_committed), and returns all of its records. */
    public List<Record> waitForRecords(String topic, long n, Consumer<WaitForRecordsOptions> with) {
        WaitForRecordsOptions options = new WaitForRecordsOptions();
        with.accept(options);
        return Json.list(Controls.this.get("/record/wait", options.with("topic", topic, "n", n)), Record::of);
    }

    /** Makes an in-sync replica the leader of a partition, in a new leader epoch. */
    public void moveLeader(String topic, long partition, long node) {
        Controls.this.post("/leader/move", Options.arguments("topic", topic, "partition", partition, "node", node));
    }

    /** Elects leaders where necessary, as kafka-leader-election does, and returns the elections that were held. */
    public List<Election> elect(String kind) {
        return Json.list(Controls.this.post("/leader/elect", Options.arguments("kind", kind)), Election::of);
    }

    /** Elects leaders where necessary, as kafka-leader-election does, and returns the elections that were held. */
    public List<Election> elect(String kind, Consumer<ElectOptions> with) {
        ElectOptions options = new ElectOptions();
        with.accept(options);
        return Json.list(Controls.this.post("/leader/elect", options.with("kind", kind)), Election::of);
    }

    /** Makes a node the coordinator of a group or transactional id. */
    public void moveCoordinator(long node) {
        Controls.this.post("/coordinator/move", Options.arguments("node", node));
    }

    /** Makes a node the coordinator of a group or transactional id. */
    public void moveCoordinator(long node, Consumer<MoveCoordinatorOptions> with) {
        MoveCoordinatorOptions options = new MoveCoordinatorOptions();
        with.accept(options);
        Controls.this.post("/coordinator/move", options.with("node", node));
    }

    /** Replaces the replicas of a partition. */
    public void setReplicas(String topic, long partition, List<Long> replicas) {
        Controls.this.post("/replica/set", Options.arguments("topic", topic, "partition", partition, "replicas", replicas));
    }

    /** Keeps reassignments in progress, also those that clients start, until `release_reassignments`. */
    public void holdReassignments() {
        Controls.this.post("/reassignment/hold", Options.arguments());
    }

    /** Completes the reassignments that were held, and lets new ones complete by themselves again. */
    public void releaseReassignments() {
        Controls.this.post("/reassignment/release", Options.arguments());
    }

    /** Makes a follower stop, or follow at a distance of `records`, until `catch_up` or until it is elected leader. */
    public void lag(String topic, long partition, long node) {
        Controls.this.post("/replica/lag", Options.arguments("topic", topic, "partition", partition, "node", node));
    }

    /** Makes a follower stop, or follow at a distance of `records`, until `catch_up` or until it is elected leader. */
    public void lag(String topic, long partition, long node, Consumer<LagOptions> with) {
        LagOptions options = new LagOptions();
        with.accept(options);
        Controls.this.post("/replica/lag", options.with("topic", topic, "partition", partition, "node", node));
    }

    /** Lets a follower that lags catch up. */
    public void catchUp(String topic, long partition, long node) {
        Controls.this.post("/replica/catch-up", Options.arguments("topic", topic, "partition", partition, "node", node));
    }

    /** Keeps the present state of the cluster as a snapshot for `restore`, and returns it. */
    public Snapshot snapshot() {
        return Snapshot.of(Controls.this.post("/state/snapshot", Options.arguments()));
    }

    /** Brings the cluster back to the state of a snapshot, and closes all connections with RST. */
    public void restore(long snapshot) {
        Controls.this.post("/state/restore", Options.arguments("snapshot", snapshot));
    }

    /** Releases a snapshot and the memory that only it uses. */
    public void closeSnapshot(long snapshot) {
        Controls.this.post("/state/close", Options.arguments("snapshot", snapshot));
    }

    /** Returns the snapshots that are not closed, oldest first. */
    public List<Snapshot> snapshots() {
        return Json.list(Controls.this.get("/state/list", Options.arguments()), Snapshot::of);
    }

    /** Brings the cluster back to the state after its start, and closes all connections with RST. */
    public void reset() {
        Controls.this.post("/state/reset", Options.arguments());
    }

    /** Saves the present state to a file, which replaces an existing one, and returns the size of the file in bytes. */
    public long save(String file) {
        return Json.integer(Controls.this.post("/state/save", Options.arguments("file", file)));
    }

    /** Writes the cluster as log directories, on which Apache Kafka 4.3 or later starts, and returns the nodes. */
    public List<ExportedNode> exportLogDirs(String directory) {
        return Json.list(Controls.this.post("/state/export-log-dirs", Options.arguments("directory", directory)), ExportedNode::of);
    }

    /** Returns all transactional ids with their transactions. */
    public List<TransactionInfo> transactions() {
        return Json.list(Controls.this.get("/transaction/list", Options.arguments()), TransactionInfo::of);
    }

    /**
     * Returns the mistakes of clients that the record shows, each with the exchanges that show it and the settings to
     * change.
     */
    public List<FindingInfo> doctor() {
        return Json.list(Controls.this.get("/doctor", Options.arguments()), FindingInfo::of);
    }

    /**
     * Returns the mistakes of clients that the record shows, each with the exchanges that show it and the settings to
     * change.
     */
    public List<FindingInfo> doctor(Consumer<DoctorOptions> with) {
        DoctorOptions options = new DoctorOptions();
        with.accept(options);
        return Json.list(Controls.this.get("/doctor", options.with()), FindingInfo::of);
    }

    /** The controls whose names begin with `clock`. */
    public final class ClockControls {
        private ClockControls() {}

        /** Returns the cluster's time and its speed. */
        public ClockState state() {
            return ClockState.of(Controls.this.get("/clock/show", Options.arguments()));
        }

        /** Stops the time. */
        public ClockState freeze() {
            return ClockState.of(Controls.this.post("/clock/freeze", Options.arguments()));
        }

        /** Lets the time pass, after `freeze` or at another speed: with a speed of 60, an hour passes in a minute. */
        public ClockState run() {
            return ClockState.of(Controls.this.post("/clock/run", Options.arguments()));
        }

        /** Lets the time pass, after `freeze` or at another speed: with a speed of 60, an hour passes in a minute. */
        public ClockState run(Consumer<ClockRunOptions> with) {
            ClockRunOptions options = new ClockRunOptions();
            with.accept(options);
            return ClockState.of(Controls.this.post("/clock/run", options.with()));
        }

        /** Moves the time forward by a duration, such as 10m, and returns when all is done. */
        public ClockState advance(Duration duration) {
            return ClockState.of(Controls.this.post("/clock/advance", Options.arguments("duration", duration)));
        }

        /** Moves the time forward to a moment, like `advance`. */
        public ClockState set(Instant moment) {
            return ClockState.of(Controls.this.post("/clock/set", Options.arguments("moment", moment)));
        }

    }

    /** The controls whose names begin with `schemas`. */
    public final class SchemasControls {
        private SchemasControls() {}

        /** Registers a schema and returns its version. */
        public SchemaVersion register(String subject, Map<String, Object> schema) {
            return SchemaVersion.of(Controls.this.post("/schema/register", Options.arguments("subject", subject, "schema", schema)));
        }

        /** Registers a schema and returns its version. */
        public SchemaVersion register(String subject, Map<String, Object> schema, Consumer<SchemasRegisterOptions> with) {
            SchemasRegisterOptions options = new SchemasRegisterOptions();
            with.accept(options);
            return SchemaVersion.of(Controls.this.post("/schema/register", options.with("subject", subject, "schema", schema)));
        }

        /** Returns the names of all subjects. */
        public List<String> subjects() {
            return Json.list(Controls.this.get("/schema/list", Options.arguments()), Json::text);
        }

        /** Returns the names of all subjects. */
        public List<String> subjects(Consumer<SchemasSubjectsOptions> with) {
            SchemasSubjectsOptions options = new SchemasSubjectsOptions();
            with.accept(options);
            return Json.list(Controls.this.get("/schema/list", options.with()), Json::text);
        }

        /** Returns a version of a subject. */
        public SchemaVersion get(String subject) {
            return SchemaVersion.of(Controls.this.get("/schema/show", Options.arguments("subject", subject)));
        }

        /** Returns a version of a subject. */
        public SchemaVersion get(String subject, Consumer<SchemasGetOptions> with) {
            SchemasGetOptions options = new SchemasGetOptions();
            with.accept(options);
            return SchemaVersion.of(Controls.this.get("/schema/show", options.with("subject", subject)));
        }

        /** Returns whether a schema could be registered in a subject, with the reasons why not. */
        public SchemaCheck check(String subject, Map<String, Object> schema) {
            return SchemaCheck.of(Controls.this.get("/schema/check", Options.arguments("subject", subject, "schema", schema)));
        }

        /** Returns whether a schema could be registered in a subject, with the reasons why not. */
        public SchemaCheck check(String subject, Map<String, Object> schema, Consumer<SchemasCheckOptions> with) {
            SchemasCheckOptions options = new SchemasCheckOptions();
            with.accept(options);
            return SchemaCheck.of(Controls.this.get("/schema/check", options.with("subject", subject, "schema", schema)));
        }

        /** Deletes the versions of a subject and returns their numbers. */
        public List<Long> delete(String subject) {
            return Json.list(Controls.this.post("/schema/delete", Options.arguments("subject", subject)), Json::integer);
        }

        /** Deletes the versions of a subject and returns their numbers. */
        public List<Long> delete(String subject, Consumer<SchemasDeleteOptions> with) {
            SchemasDeleteOptions options = new SchemasDeleteOptions();
            with.accept(options);
            return Json.list(Controls.this.post("/schema/delete", options.with("subject", subject)), Json::integer);
        }

        /** Sets the compatibility level of a subject, or that of all subjects without one. */
        public void setCompatibility(String level) {
            Controls.this.post("/schema/compatibility", Options.arguments("level", level));
        }

        /** Sets the compatibility level of a subject, or that of all subjects without one. */
        public void setCompatibility(String level, Consumer<SchemasSetCompatibilityOptions> with) {
            SchemasSetCompatibilityOptions options = new SchemasSetCompatibilityOptions();
            with.accept(options);
            Controls.this.post("/schema/compatibility", options.with("level", level));
        }

    }

    /** The controls whose names begin with `wire`. */
    public final class WireControls {
        private WireControls() {}

        /** Returns the number that the next entry will get. */
        public long mark() {
            return Json.integer(Controls.this.get("/wire/mark", Options.arguments()));
        }

        /** Returns the exchanges and events from a number on, as JSON objects. */
        public List<Map<String, Object>> entries() {
            return Json.list(Controls.this.get("/wire/list", Options.arguments()), value -> Json.map(value, Json::any));
        }

        /** Returns the exchanges and events from a number on, as JSON objects. */
        public List<Map<String, Object>> entries(Consumer<WireEntriesOptions> with) {
            WireEntriesOptions options = new WireEntriesOptions();
            with.accept(options);
            return Json.list(Controls.this.get("/wire/list", options.with()), value -> Json.map(value, Json::any));
        }

        /**
         * Returns a sequence diagram of the exchanges and events from a number on: clients, nodes, and arrows with
         * API and version.
         */
        public String diagram() {
            return Json.text(Controls.this.get("/wire/diagram", Options.arguments()));
        }

        /**
         * Returns a sequence diagram of the exchanges and events from a number on: clients, nodes, and arrows with
         * API and version.
         */
        public String diagram(Consumer<WireDiagramOptions> with) {
            WireDiagramOptions options = new WireDiagramOptions();
            with.accept(options);
            return Json.text(Controls.this.get("/wire/diagram", options.with()));
        }

        /** Returns what the exchanges and events from a number on show, in lines of at most 120 columns. */
        public String story() {
            return Json.text(Controls.this.get("/wire/story", Options.arguments()));
        }

        /** Returns what the exchanges and events from a number on show, in lines of at most 120 columns. */
        public String story(Consumer<WireStoryOptions> with) {
            WireStoryOptions options = new WireStoryOptions();
            with.accept(options);
            return Json.text(Controls.this.get("/wire/story", options.with()));
        }

    }

    /** Optional parameters of startCapture. Those that are not set have their defaults. */
    public static final class StartCaptureOptions extends Options {
        private StartCaptureOptions() {}

        /** Canonical shows node n as 127.0.0.n:9092. */
        public StartCaptureOptions addresses(String addresses) {
            set("addresses", addresses);
            return this;
        }

        /** The size at which another file begins; the one before is kept. */
        public StartCaptureOptions maxBytes(long maxBytes) {
            set("max_bytes", maxBytes);
            return this;
        }

    }

    /** Optional parameters of run. Those that are not set have their defaults. */
    public static final class ClockRunOptions extends Options {
        private ClockRunOptions() {}

        /** How many times as fast as the wall clock the time passes. */
        public ClockRunOptions speed(double speed) {
            set("speed", speed);
            return this;
        }

    }

    /** Optional parameters of stopNode. Those that are not set have their defaults. */
    public static final class StopNodeOptions extends Options {
        private StopNodeOptions() {}

        /** Move leaders at once; otherwise, when the node's session expires, as after a crash. */
        public StopNodeOptions graceful(boolean graceful) {
            set("graceful", graceful);
            return this;
        }

    }

    /** Optional parameters of addNode. Those that are not set have their defaults. */
    public static final class AddNodeOptions extends Options {
        private AddNodeOptions() {}

        /** The id of the new node; by default the next one. */
        public AddNodeOptions node(long node) {
            set("node", node);
            return this;
        }

        /** Its rack (broker.rack). */
        public AddNodeOptions rack(String rack) {
            set("rack", rack);
            return this;
        }

    }

    /** Optional parameters of fault. Those that are not set have their defaults. */
    public static final class FaultOptions extends Options {
        private FaultOptions() {}

        /** The APIs of the requests, such as Produce. */
        public FaultOptions api(String... api) {
            set("api", list(api));
            return this;
        }

        /** The lowest version of the API. */
        public FaultOptions minVersion(long minVersion) {
            set("min_version", minVersion);
            return this;
        }

        /** The highest version of the API. */
        public FaultOptions maxVersion(long maxVersion) {
            set("max_version", maxVersion);
            return this;
        }

        /** The id of the node that the client is connected to. */
        public FaultOptions node(long node) {
            set("node", node);
            return this;
        }

        /** The name of the listener. */
        public FaultOptions listener(String listener) {
            set("listener", listener);
            return this;
        }

        /** A pattern for the client id, with * and ?. */
        public FaultOptions clientId(String clientId) {
            set("client_id", clientId);
            return this;
        }

        /** A pattern for name/version of the client library, such as librdkafka/2.*. */
        public FaultOptions clientSoftware(String clientSoftware) {
            set("client_software", clientSoftware);
            return this;
        }

        /** A pattern for the principal, such as User:alice. */
        public FaultOptions principal(String principal) {
            set("principal", principal);
            return this;
        }

        /** A pattern for the address of the client, such as 127.0.0.1. */
        public FaultOptions peer(String peer) {
            set("peer", peer);
            return this;
        }

        /** The id of a connection. */
        public FaultOptions connection(long connection) {
            set("connection", connection);
            return this;
        }

        /** A pattern for the name of a topic; only its part of a request is hit. */
        public FaultOptions topic(String topic) {
            set("topic", topic);
            return this;
        }

        /** Indexes of partitions; only their part of a request is hit. */
        public FaultOptions partitions(long... partitions) {
            set("partitions", list(partitions));
            return this;
        }

        /** A pattern for the id of a group. */
        public FaultOptions group(String group) {
            set("group", group);
            return this;
        }

        /** A pattern for a transactional id. */
        public FaultOptions transactionalId(String transactionalId) {
            set("transactional_id", transactionalId);
            return this;
        }

        /** A pattern for the subject of a request to the schema registry (api SchemaRegistry). */
        public FaultOptions subject(String subject) {
            set("subject", subject);
            return this;
        }

        /** A pattern for the path of a request to the schema registry, such as /schemas/ids/*. */
        public FaultOptions path(String path) {
            set("path", path);
            return this;
        }

        /** The acks of a Produce: -1 for all, 0 or 1. */
        public FaultOptions acks(long acks) {
            set("acks", acks);
            return this;
        }

        /** How many of the matching requests pass first. */
        public FaultOptions skip(long skip) {
            set("skip", skip);
            return this;
        }

        /** Hits every n-th of the matching requests. */
        public FaultOptions every(long every) {
            set("every", every);
            return this;
        }

        /** How many requests are hit at most. */
        public FaultOptions times(long times) {
            set("times", times);
            return this;
        }

        /** The probability with which a matching request is hit. */
        public FaultOptions probability(double probability) {
            set("probability", probability);
            return this;
        }

        /** The time of the cluster from which on requests are hit; a number is milliseconds since 1970. */
        public FaultOptions after(Instant after) {
            set("after", after);
            return this;
        }

        /** The time of the cluster until which requests are hit. */
        public FaultOptions until(Instant until) {
            set("until", until);
            return this;
        }

        /** The error code of the response, such as NOT_LEADER_OR_FOLLOWER; of the schema registry, such as 50003. */
        public FaultOptions error(String error) {
            set("error", error);
            return this;
        }

        /** The HTTP status of the schema registry's answer, such as 503. */
        public FaultOptions status(long status) {
            set("status", status);
            return this;
        }

        /** Whether error and drop come before the work (the default) or after it. */
        public FaultOptions stage(String stage) {
            set("stage", stage);
            return this;
        }

        /** Fields of the response and their values, nested as in the response. */
        public FaultOptions respond(Map<String, ?> respond) {
            set("respond", respond);
            return this;
        }

        /** How long the response waits, in milliseconds of the cluster's time. */
        public FaultOptions delayMs(long delayMs) {
            set("delay_ms", delayMs);
            return this;
        }

        /** How long the response waits in addition at most; the time is random. */
        public FaultOptions jitterMs(long jitterMs) {
            set("jitter_ms", jitterMs);
            return this;
        }

        /** The throttle time that the response says, and for which the connection is muted. */
        public FaultOptions throttleMs(long throttleMs) {
            set("throttle_ms", throttleMs);
            return this;
        }

        /** Whether the response is not written. */
        public FaultOptions drop(boolean drop) {
            set("drop", drop);
            return this;
        }

        /** How the connection ends when the response is dropped. */
        public FaultOptions close(String close) {
            set("close", close);
            return this;
        }

        /** How many bytes of the dropped response are written before the connection ends. */
        public FaultOptions cutAtBytes(long cutAtBytes) {
            set("cut_at_bytes", cutAtBytes);
            return this;
        }

        /** Whether the request is neither read nor answered, while the connection stays open. */
        public FaultOptions hang(boolean hang) {
            set("hang", hang);
            return this;
        }

        /** How long it hangs; without it, until the fault is removed. */
        public FaultOptions hangMs(long hangMs) {
            set("hang_ms", hangMs);
            return this;
        }

        /** The rate at which the response is written. */
        public FaultOptions bytesPerS(long bytesPerS) {
            set("bytes_per_s", bytesPerS);
            return this;
        }

        /** The size of the pieces in which the response is written. */
        public FaultOptions chunkBytes(long chunkBytes) {
            set("chunk_bytes", chunkBytes);
            return this;
        }

        /**
         * What is damaged: the CRC, a record or the end of a fetched batch, or the length or correlation id of the
         * response.
         */
        public FaultOptions corrupt(String corrupt) {
            set("corrupt", corrupt);
            return this;
        }

        /** New connections are refused (also true), accepted and closed, or accepted and never answered. */
        public FaultOptions refuse(String refuse) {
            set("refuse", refuse);
            return this;
        }

    }

    /** Optional parameters of waitForFault. Those that are not set have their defaults. */
    public static final class WaitForFaultOptions extends Options {
        private WaitForFaultOptions() {}

        /** How often the fault must have hit. */
        public WaitForFaultOptions hits(long hits) {
            set("hits", hits);
            return this;
        }

        /** How long to wait at most, in seconds of the wall clock. */
        public WaitForFaultOptions timeoutS(double timeoutS) {
            set("timeout_s", timeoutS);
            return this;
        }

    }

    /** Optional parameters of lostAcks. Those that are not set have their defaults. */
    public static final class LostAcksOptions extends Options {
        private LostAcksOptions() {}

        /** How many acknowledgements are lost. */
        public LostAcksOptions times(long times) {
            set("times", times);
            return this;
        }

    }

    /** Optional parameters of waitForGroup. Those that are not set have their defaults. */
    public static final class WaitForGroupOptions extends Options {
        private WaitForGroupOptions() {}

        /** The number of members that the group must have. */
        public WaitForGroupOptions members(long members) {
            set("members", members);
            return this;
        }

        /** The state that the group must have, such as Stable or Empty. */
        public WaitForGroupOptions state(String state) {
            set("state", state);
            return this;
        }

        /** The highest lag that the group may have, over all partitions. */
        public WaitForGroupOptions lag(long lag) {
            set("lag", lag);
            return this;
        }

        /** The topic in which the group must have committed an offset. */
        public WaitForGroupOptions topic(String topic) {
            set("topic", topic);
            return this;
        }

        /** The partition of the topic; needed if it has several. */
        public WaitForGroupOptions partition(long partition) {
            set("partition", partition);
            return this;
        }

        /** The offset that the group must have committed there, or a later one. */
        public WaitForGroupOptions committed(long committed) {
            set("committed", committed);
            return this;
        }

        /** How long to wait at most, in seconds of the wall clock. */
        public WaitForGroupOptions timeoutS(double timeoutS) {
            set("timeout_s", timeoutS);
            return this;
        }

    }

    /** Optional parameters of createTopic. Those that are not set have their defaults. */
    public static final class CreateTopicOptions extends Options {
        private CreateTopicOptions() {}

        /** The number of partitions; by default num.partitions. */
        public CreateTopicOptions partitions(long partitions) {
            set("partitions", partitions);
            return this;
        }

        /** The number of replicas; by default default.replication.factor. */
        public CreateTopicOptions replicationFactor(long replicationFactor) {
            set("replication_factor", replicationFactor);
            return this;
        }

        /** Topic settings, such as cleanup.policy. */
        public CreateTopicOptions configs(Map<String, ?> configs) {
            set("configs", configs);
            return this;
        }

    }

    /** Optional parameters of produce. Those that are not set have their defaults. */
    public static final class ProduceOptions extends Options {
        private ProduceOptions() {}

        /** The partition for all records that name none; by default the key decides. */
        public ProduceOptions partition(long partition) {
            set("partition", partition);
            return this;
        }

    }

    /** Optional parameters of records. Those that are not set have their defaults. */
    public static final class RecordsOptions extends Options {
        private RecordsOptions() {}

        /** Only this partition. */
        public RecordsOptions partition(long partition) {
            set("partition", partition);
            return this;
        }

        /** Only records from this offset on. */
        public RecordsOptions offset(long offset) {
            set("offset", offset);
            return this;
        }

        /** Begin at the first record with this time or a later one. */
        public RecordsOptions since(Instant since) {
            set("since", since);
            return this;
        }

        /** At most this many records of each partition. */
        public RecordsOptions limit(long limit) {
            set("limit", limit);
            return this;
        }

        /** Stop in each partition after this many bytes of keys and values. */
        public RecordsOptions maxBytes(long maxBytes) {
            set("max_bytes", maxBytes);
            return this;
        }

    }

    /** Optional parameters of decodedRecords. Those that are not set have their defaults. */
    public static final class DecodedRecordsOptions extends Options {
        private DecodedRecordsOptions() {}

        /** Only this partition. */
        public DecodedRecordsOptions partition(long partition) {
            set("partition", partition);
            return this;
        }

        /** Only records from this offset on. */
        public DecodedRecordsOptions offset(long offset) {
            set("offset", offset);
            return this;
        }

        /** Begin at the first record with this time or a later one. */
        public DecodedRecordsOptions since(Instant since) {
            set("since", since);
            return this;
        }

        /** At most this many records of each partition. */
        public DecodedRecordsOptions limit(long limit) {
            set("limit", limit);
            return this;
        }

        /** Stop in each partition after this many bytes of keys and values. */
        public DecodedRecordsOptions maxBytes(long maxBytes) {
            set("max_bytes", maxBytes);
            return this;
        }

    }

    /** Optional parameters of waitForRecords. Those that are not set have their defaults. */
    public static final class WaitForRecordsOptions extends Options {
        private WaitForRecordsOptions() {}

        /** How long to wait at most, in seconds of the wall clock. */
        public WaitForRecordsOptions timeoutS(double timeoutS) {
            set("timeout_s", timeoutS);
            return this;
        }

    }

    /** Optional parameters of elect. Those that are not set have their defaults. */
    public static final class ElectOptions extends Options {
        private ElectOptions() {}

        /** Only this topic. */
        public ElectOptions topic(String topic) {
            set("topic", topic);
            return this;
        }

        /** Only these partitions of the topic. */
        public ElectOptions partitions(long... partitions) {
            set("partitions", list(partitions));
            return this;
        }

    }

    /** Optional parameters of moveCoordinator. Those that are not set have their defaults. */
    public static final class MoveCoordinatorOptions extends Options {
        private MoveCoordinatorOptions() {}

        /** The id of a group. */
        public MoveCoordinatorOptions group(String group) {
            set("group", group);
            return this;
        }

        /** A transactional id, instead of a group. */
        public MoveCoordinatorOptions transactionalId(String transactionalId) {
            set("transactional_id", transactionalId);
            return this;
        }

    }

    /** Optional parameters of lag. Those that are not set have their defaults. */
    public static final class LagOptions extends Options {
        private LagOptions() {}

        /** The distance at which the replica follows; with 0 it stops where it is. */
        public LagOptions records(long records) {
            set("records", records);
            return this;
        }

    }

    /** Optional parameters of register. Those that are not set have their defaults. */
    public static final class SchemasRegisterOptions extends Options {
        private SchemasRegisterOptions() {}

        /** The language of the schema. */
        public SchemasRegisterOptions schemaType(String schemaType) {
            set("schema_type", schemaType);
            return this;
        }

        /** The versions that the schema refers to: objects with name, subject and version. */
        public SchemasRegisterOptions references(List<SchemaReference> references) {
            set("references", references);
            return this;
        }

    }

    /** Optional parameters of subjects. Those that are not set have their defaults. */
    public static final class SchemasSubjectsOptions extends Options {
        private SchemasSubjectsOptions() {}

        /** Also subjects that are soft deleted. */
        public SchemasSubjectsOptions deleted(boolean deleted) {
            set("deleted", deleted);
            return this;
        }

    }

    /** Optional parameters of get. Those that are not set have their defaults. */
    public static final class SchemasGetOptions extends Options {
        private SchemasGetOptions() {}

        /** A version; by default the latest one. */
        public SchemasGetOptions version(long version) {
            set("version", version);
            return this;
        }

    }

    /** Optional parameters of check. Those that are not set have their defaults. */
    public static final class SchemasCheckOptions extends Options {
        private SchemasCheckOptions() {}

        /** Compare with this version only; by default, the level decides. */
        public SchemasCheckOptions version(long version) {
            set("version", version);
            return this;
        }

        /** The language of the schema. */
        public SchemasCheckOptions schemaType(String schemaType) {
            set("schema_type", schemaType);
            return this;
        }

        /** The versions that the schema refers to: objects with name, subject and version. */
        public SchemasCheckOptions references(List<SchemaReference> references) {
            set("references", references);
            return this;
        }

    }

    /** Optional parameters of delete. Those that are not set have their defaults. */
    public static final class SchemasDeleteOptions extends Options {
        private SchemasDeleteOptions() {}

        /** Only this version; by default all versions. */
        public SchemasDeleteOptions version(long version) {
            set("version", version);
            return this;
        }

        /** Delete what is soft deleted, so that its id is unknown. */
        public SchemasDeleteOptions permanent(boolean permanent) {
            set("permanent", permanent);
            return this;
        }

    }

    /** Optional parameters of setCompatibility. Those that are not set have their defaults. */
    public static final class SchemasSetCompatibilityOptions extends Options {
        private SchemasSetCompatibilityOptions() {}

        /** A subject; by default all without a level. */
        public SchemasSetCompatibilityOptions subject(String subject) {
            set("subject", subject);
            return this;
        }

    }

    /** Optional parameters of entries. Those that are not set have their defaults. */
    public static final class WireEntriesOptions extends Options {
        private WireEntriesOptions() {}

        /** The number of the first entry, such as that of an earlier `mark`. */
        public WireEntriesOptions since(long since) {
            set("since", since);
            return this;
        }

        /** A filter, such as api=Produce and error. */
        public WireEntriesOptions filter(String filter) {
            set("filter", filter);
            return this;
        }

        /** Whether decoded requests and responses are included. */
        public WireEntriesOptions verbose(boolean verbose) {
            set("verbose", verbose);
            return this;
        }

    }

    /** Optional parameters of diagram. Those that are not set have their defaults. */
    public static final class WireDiagramOptions extends Options {
        private WireDiagramOptions() {}

        /** Text, mermaid, svg or html. */
        public WireDiagramOptions format(String format) {
            set("format", format);
            return this;
        }

        /** The number of the first entry, such as that of an earlier `mark`. */
        public WireDiagramOptions since(long since) {
            set("since", since);
            return this;
        }

        /** A filter, such as api=Produce and error. */
        public WireDiagramOptions filter(String filter) {
            set("filter", filter);
            return this;
        }

    }

    /** Optional parameters of story. Those that are not set have their defaults. */
    public static final class WireStoryOptions extends Options {
        private WireStoryOptions() {}

        /** The number of the first entry, such as that of an earlier `mark`. */
        public WireStoryOptions since(long since) {
            set("since", since);
            return this;
        }

        /** A filter, such as api=Produce and error. */
        public WireStoryOptions filter(String filter) {
            set("filter", filter);
            return this;
        }

        /** When times begin, in milliseconds since 1970 by the wall clock; 0 is the first entry. */
        public WireStoryOptions beginMs(double beginMs) {
            set("begin_ms", beginMs);
            return this;
        }

    }

    /** Optional parameters of doctor. Those that are not set have their defaults. */
    public static final class DoctorOptions extends Options {
        private DoctorOptions() {}

        /** The number of the first entry, such as that of an earlier `mark`. */
        public DoctorOptions since(long since) {
            set("since", since);
            return this;
        }

    }

    /**
     * One access control entry, in Kafka's terms: `pattern_type` is LITERAL or PREFIXED, `permission` is ALLOW or
     * DENY.
     */
    public record AclInfo(
            String principal,
            String permission,
            String operation,
            String resourceType,
            String resourceName,
            String patternType,
            String host) {
        static AclInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new AclInfo(
                    Json.text(fields.get("principal")),
                    Json.text(fields.get("permission")),
                    Json.text(fields.get("operation")),
                    Json.text(fields.get("resource_type")),
                    Json.text(fields.get("resource_name")),
                    Json.text(fields.get("pattern_type")),
                    Json.text(fields.get("host")));
        }
    }

    /**
     * A capture that has been written: its file, the size of all its files, and the error that ended it, if there was
     * one.
     */
    public record CaptureInfo(
            String file,
            long writtenBytes,
            String error) {
        static CaptureInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new CaptureInfo(
                    Json.text(fields.get("file")),
                    Json.integer(fields.get("written_bytes")),
                    Json.nullable(fields.get("error"), Json::text));
        }
    }

    /** A value of a metric. */
    public record ClientMetric(
            String name,
            String unit,
            String kind,
            Map<String, Object> attributes,
            long timeMs,
            Double value) {
        static ClientMetric of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new ClientMetric(
                    Json.text(fields.get("name")),
                    Json.text(fields.get("unit")),
                    Json.text(fields.get("kind")),
                    Json.map(fields.get("attributes"), Json::any),
                    Json.integer(fields.get("time_ms")),
                    Json.nullable(fields.get("value"), Json::number));
        }
    }

    /** A push of metrics by a client. */
    public record ClientMetricsPush(
            long timeMs,
            long node,
            String clientInstanceId,
            String clientId,
            String softwareName,
            String softwareVersion,
            boolean terminating,
            List<ClientMetric> metrics,
            String problem) {
        static ClientMetricsPush of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new ClientMetricsPush(
                    Json.integer(fields.get("time_ms")),
                    Json.integer(fields.get("node")),
                    Json.text(fields.get("client_instance_id")),
                    Json.text(fields.get("client_id")),
                    Json.text(fields.get("software_name")),
                    Json.text(fields.get("software_version")),
                    Json.bool(fields.get("terminating")),
                    Json.list(fields.get("metrics"), ClientMetric::of),
                    Json.nullable(fields.get("problem"), Json::text));
        }
    }

    /** The cluster's time, and how many times as fast as the wall clock it passes (0 while it is frozen). */
    public record ClockState(
            Instant now,
            double speed,
            Instant movingTo) {
        static ClockState of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new ClockState(
                    Json.time(fields.get("now")),
                    Json.number(fields.get("speed")),
                    Json.nullable(fields.get("moving_to"), Json::time));
        }
    }

    /** The cluster. */
    public record ClusterInfo(
            String version,
            String clusterId,
            long controller,
            String bootstrapServers,
            long nodes,
            long topics,
            long partitions,
            long groups,
            long connections,
            long logBytes,
            Long maxMemoryBytes,
            List<String> problems) {
        static ClusterInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new ClusterInfo(
                    Json.text(fields.get("version")),
                    Json.text(fields.get("cluster_id")),
                    Json.integer(fields.get("controller")),
                    Json.text(fields.get("bootstrap_servers")),
                    Json.integer(fields.get("nodes")),
                    Json.integer(fields.get("topics")),
                    Json.integer(fields.get("partitions")),
                    Json.integer(fields.get("groups")),
                    Json.integer(fields.get("connections")),
                    Json.integer(fields.get("log_bytes")),
                    Json.nullable(fields.get("max_memory_bytes"), Json::integer),
                    Json.list(fields.get("problems"), Json::text));
        }
    }

    /** An open connection. */
    public record ConnectionInfo(
            long connection,
            long node,
            String listener,
            String host,
            long port,
            String clientId,
            String softwareName,
            String softwareVersion,
            String principal,
            String waitsFor) {
        static ConnectionInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new ConnectionInfo(
                    Json.integer(fields.get("connection")),
                    Json.integer(fields.get("node")),
                    Json.text(fields.get("listener")),
                    Json.text(fields.get("host")),
                    Json.integer(fields.get("port")),
                    Json.text(fields.get("client_id")),
                    Json.text(fields.get("software_name")),
                    Json.text(fields.get("software_version")),
                    Json.text(fields.get("principal")),
                    Json.nullable(fields.get("waits_for"), Json::text));
        }
    }

    /**
     * The number of connections that a crash of a client has ended, and the groups in which its sessions have
     * expired.
     */
    public record CrashedClient(
            long connections,
            List<String> groups) {
        static CrashedClient of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new CrashedClient(
                    Json.integer(fields.get("connections")),
                    Json.list(fields.get("groups"), Json::text));
        }
    }

    /** A key or value with the id of a schema. */
    public record DecodedData(
            long schemaId,
            String schemaType,
            List<String> subjects,
            String data,
            String error) {
        static DecodedData of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new DecodedData(
                    Json.integer(fields.get("schema_id")),
                    Json.nullable(fields.get("schema_type"), Json::text),
                    Json.list(fields.get("subjects"), Json::text),
                    Json.nullable(fields.get("data"), Json::text),
                    Json.nullable(fields.get("error"), Json::text));
        }
    }

    /**
     * A stored record with what its key and value are by their schemas, null for data that do not begin with the id
     * of a schema.
     */
    public record DecodedRecord(
            String topic,
            long partition,
            long offset,
            long timestamp,
            Bytes key,
            Bytes value,
            List<Header> headers,
            String transaction,
            DecodedData decodedKey,
            DecodedData decodedValue) {
        static DecodedRecord of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new DecodedRecord(
                    Json.text(fields.get("topic")),
                    Json.integer(fields.get("partition")),
                    Json.integer(fields.get("offset")),
                    Json.integer(fields.get("timestamp")),
                    Json.nullable(fields.get("key"), Json::bytes),
                    Json.nullable(fields.get("value"), Json::bytes),
                    Json.list(fields.get("headers"), Json::header),
                    Json.nullable(fields.get("transaction"), Json::text),
                    Json.nullable(fields.get("decoded_key"), DecodedData::of),
                    Json.nullable(fields.get("decoded_value"), DecodedData::of));
        }
    }

    /** A partition that has elected a leader. */
    public record Election(
            String topic,
            long partition,
            long leader,
            long leaderEpoch) {
        static Election of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new Election(
                    Json.text(fields.get("topic")),
                    Json.integer(fields.get("partition")),
                    Json.integer(fields.get("leader")),
                    Json.integer(fields.get("leader_epoch")));
        }
    }

    /** A request that a fault has hit. */
    public record Exchange(
            long timeMs,
            long node,
            long connection,
            String clientId,
            String api,
            long version,
            long correlationId,
            List<String> topics) {
        static Exchange of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new Exchange(
                    Json.integer(fields.get("time_ms")),
                    Json.integer(fields.get("node")),
                    Json.integer(fields.get("connection")),
                    Json.text(fields.get("client_id")),
                    Json.text(fields.get("api")),
                    Json.integer(fields.get("version")),
                    Json.integer(fields.get("correlation_id")),
                    Json.list(fields.get("topics"), Json::text));
        }
    }

    /** The log directory of a node that was written for Apache Kafka. */
    public record ExportedNode(
            long node,
            long logBytes,
            String command) {
        static ExportedNode of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new ExportedNode(
                    Json.integer(fields.get("node")),
                    Json.integer(fields.get("log_bytes")),
                    Json.text(fields.get("command")));
        }
    }

    /** A fault: its number, its options, and what it has hit. */
    public record FaultInfo(
            long fault,
            String options,
            long hits,
            List<Exchange> exchanges,
            String missed,
            boolean removed) {
        static FaultInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new FaultInfo(
                    Json.integer(fields.get("fault")),
                    Json.text(fields.get("options")),
                    Json.integer(fields.get("hits")),
                    Json.list(fields.get("exchanges"), Exchange::of),
                    Json.text(fields.get("missed")),
                    Json.bool(fields.get("removed")));
        }
    }

    /** A mistake of a client: what happened, what to change, the settings to look up, and what shows it. */
    public record FindingInfo(
            String name,
            String client,
            String problem,
            String advice,
            List<String> settings,
            List<Long> exchanges,
            List<String> lines) {
        static FindingInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new FindingInfo(
                    Json.text(fields.get("name")),
                    Json.text(fields.get("client")),
                    Json.text(fields.get("problem")),
                    Json.text(fields.get("advice")),
                    Json.list(fields.get("settings"), Json::text),
                    Json.list(fields.get("exchanges"), Json::integer),
                    Json.list(fields.get("lines"), Json::text));
        }
    }

    /** A group. */
    public record GroupInfo(
            String groupId,
            String type,
            String state,
            String protocol,
            long epoch,
            long coordinator,
            List<MemberInfo> members,
            List<OffsetInfo> offsets,
            Long lag) {
        static GroupInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new GroupInfo(
                    Json.text(fields.get("group_id")),
                    Json.text(fields.get("type")),
                    Json.text(fields.get("state")),
                    Json.text(fields.get("protocol")),
                    Json.integer(fields.get("epoch")),
                    Json.integer(fields.get("coordinator")),
                    Json.list(fields.get("members"), MemberInfo::of),
                    Json.list(fields.get("offsets"), OffsetInfo::of),
                    Json.nullable(fields.get("lag"), Json::integer));
        }
    }

    /** One listener of a node, with the address on which it listens and the one that it advertises to clients. */
    public record ListenerInfo(
            String name,
            String securityProtocol,
            String host,
            long port,
            String advertised) {
        static ListenerInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new ListenerInfo(
                    Json.text(fields.get("name")),
                    Json.text(fields.get("security_protocol")),
                    Json.text(fields.get("host")),
                    Json.integer(fields.get("port")),
                    Json.text(fields.get("advertised")));
        }
    }

    /** One member of a group. */
    public record MemberInfo(
            String memberId,
            String instanceId,
            String clientId,
            String clientHost,
            List<String> topics,
            Map<String, List<Long>> assignment) {
        static MemberInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new MemberInfo(
                    Json.text(fields.get("member_id")),
                    Json.nullable(fields.get("instance_id"), Json::text),
                    Json.text(fields.get("client_id")),
                    Json.text(fields.get("client_host")),
                    Json.list(fields.get("topics"), Json::text),
                    Json.map(fields.get("assignment"), value -> Json.list(value, Json::integer)));
        }
    }

    /** A record to write. */
    public static final class NewRecord extends Options {
        public NewRecord() {}

        public NewRecord value(String value) {
            set("value", value);
            return this;
        }

        public NewRecord value(byte[] value) {
            set("value", Bytes.of(value));
            return this;
        }

        public NewRecord key(String key) {
            set("key", key);
            return this;
        }

        public NewRecord key(byte[] key) {
            set("key", Bytes.of(key));
            return this;
        }

        public NewRecord headers(Map<String, ?> headers) {
            set("headers", headers);
            return this;
        }

        public NewRecord timestamp(long timestamp) {
            set("timestamp", timestamp);
            return this;
        }

        public NewRecord partition(long partition) {
            set("partition", partition);
            return this;
        }

    }

    /** One node. */
    public record NodeInfo(
            long node,
            String state,
            boolean fenced,
            boolean controller,
            String rack,
            List<ListenerInfo> listeners,
            long leaders,
            long replicas,
            long outOfSync,
            long connections) {
        static NodeInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new NodeInfo(
                    Json.integer(fields.get("node")),
                    Json.text(fields.get("state")),
                    Json.bool(fields.get("fenced")),
                    Json.bool(fields.get("controller")),
                    Json.nullable(fields.get("rack"), Json::text),
                    Json.list(fields.get("listeners"), ListenerInfo::of),
                    Json.integer(fields.get("leaders")),
                    Json.integer(fields.get("replicas")),
                    Json.integer(fields.get("out_of_sync")),
                    Json.integer(fields.get("connections")));
        }
    }

    /** The progress of a group in a partition. */
    public record OffsetInfo(
            String topic,
            long partition,
            Long committed,
            String metadata,
            long lag) {
        static OffsetInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new OffsetInfo(
                    Json.text(fields.get("topic")),
                    Json.integer(fields.get("partition")),
                    Json.nullable(fields.get("committed"), Json::integer),
                    Json.text(fields.get("metadata")),
                    Json.integer(fields.get("lag")));
        }
    }

    /**
     * One partition: its leader (-1: none), replicas, in-sync replicas, and the offsets between which there are
     * records.
     */
    public record PartitionInfo(
            long partition,
            long leader,
            long leaderEpoch,
            List<Long> replicas,
            List<Long> isr,
            long startOffset,
            long highWatermark,
            long endOffset,
            long sizeBytes) {
        static PartitionInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new PartitionInfo(
                    Json.integer(fields.get("partition")),
                    Json.integer(fields.get("leader")),
                    Json.integer(fields.get("leader_epoch")),
                    Json.list(fields.get("replicas"), Json::integer),
                    Json.list(fields.get("isr"), Json::integer),
                    Json.integer(fields.get("start_offset")),
                    Json.integer(fields.get("high_watermark")),
                    Json.integer(fields.get("end_offset")),
                    Json.integer(fields.get("size_bytes")));
        }
    }

    /** A stored record. */
    public record Record(
            String topic,
            long partition,
            long offset,
            long timestamp,
            Bytes key,
            Bytes value,
            List<Header> headers,
            String transaction) {
        static Record of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new Record(
                    Json.text(fields.get("topic")),
                    Json.integer(fields.get("partition")),
                    Json.integer(fields.get("offset")),
                    Json.integer(fields.get("timestamp")),
                    Json.nullable(fields.get("key"), Json::bytes),
                    Json.nullable(fields.get("value"), Json::bytes),
                    Json.list(fields.get("headers"), Json::header),
                    Json.nullable(fields.get("transaction"), Json::text));
        }
    }

    /** The place of a record that was written. */
    public record RecordPosition(
            long partition,
            long offset) {
        static RecordPosition of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new RecordPosition(
                    Json.integer(fields.get("partition")),
                    Json.integer(fields.get("offset")));
        }
    }

    /** Whether a schema is compatible with a subject, and the reasons why it is not. */
    public record SchemaCheck(
            boolean isCompatible,
            List<String> messages) {
        static SchemaCheck of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new SchemaCheck(
                    Json.bool(fields.get("is_compatible")),
                    Json.list(fields.get("messages"), Json::text));
        }
    }

    /** A reference of a schema to a version of a subject, under the name by which the schema calls it. */
    public record SchemaReference(
            String name,
            String subject,
            long version) {
        static SchemaReference of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new SchemaReference(
                    Json.text(fields.get("name")),
                    Json.text(fields.get("subject")),
                    Json.integer(fields.get("version")));
        }
    }

    /** A version of a subject. */
    public record SchemaVersion(
            String subject,
            long version,
            long id,
            String type,
            String schema) {
        static SchemaVersion of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new SchemaVersion(
                    Json.text(fields.get("subject")),
                    Json.integer(fields.get("version")),
                    Json.integer(fields.get("id")),
                    Json.text(fields.get("type")),
                    Json.text(fields.get("schema")));
        }
    }

    /** A handle of a snapshot. */
    public record Snapshot(
            long id,
            long takenMs,
            long topics,
            long logBytes) {
        static Snapshot of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new Snapshot(
                    Json.integer(fields.get("id")),
                    Json.integer(fields.get("taken_ms")),
                    Json.integer(fields.get("topics")),
                    Json.integer(fields.get("log_bytes")));
        }
    }

    /** One topic with the configs that differ from the defaults. */
    public record TopicInfo(
            String name,
            boolean internal,
            Map<String, String> configs,
            List<PartitionInfo> partitions) {
        static TopicInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new TopicInfo(
                    Json.text(fields.get("name")),
                    Json.bool(fields.get("internal")),
                    Json.map(fields.get("configs"), Json::text),
                    Json.list(fields.get("partitions"), PartitionInfo::of));
        }
    }

    /** A transactional id and its last transaction. */
    public record TransactionInfo(
            String transactionalId,
            long producerId,
            long producerEpoch,
            String state,
            long timeoutMs,
            Instant started,
            Map<String, List<Long>> partitions,
            long coordinator) {
        static TransactionInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new TransactionInfo(
                    Json.text(fields.get("transactional_id")),
                    Json.integer(fields.get("producer_id")),
                    Json.integer(fields.get("producer_epoch")),
                    Json.text(fields.get("state")),
                    Json.integer(fields.get("timeout_ms")),
                    Json.nullable(fields.get("started"), Json::time),
                    Json.map(fields.get("partitions"), value -> Json.list(value, Json::integer)),
                    Json.integer(fields.get("coordinator")));
        }
    }

    /** One user. */
    public record UserInfo(
            String name,
            List<String> mechanisms,
            boolean superUser) {
        static UserInfo of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new UserInfo(
                    Json.text(fields.get("name")),
                    Json.list(fields.get("mechanisms"), Json::text),
                    Json.bool(fields.get("super_user")));
        }
    }

    /** A request that is not answered yet, and what it waits for, in words. */
    public record WaitingRequest(
            long connection,
            long node,
            String peer,
            String clientId,
            String software,
            String api,
            long version,
            List<String> waitsFor,
            Long leftMs) {
        static WaitingRequest of(Object json) {
            Map<String, Object> fields = Json.object(json);
            return new WaitingRequest(
                    Json.integer(fields.get("connection")),
                    Json.integer(fields.get("node")),
                    Json.text(fields.get("peer")),
                    Json.text(fields.get("client_id")),
                    Json.text(fields.get("software")),
                    Json.text(fields.get("api")),
                    Json.integer(fields.get("version")),
                    Json.list(fields.get("waits_for"), Json::text),
                    Json.nullable(fields.get("left_ms"), Json::integer));
        }
    }
}
