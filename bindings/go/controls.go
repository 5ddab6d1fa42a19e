// Code generated from the OpenAPI document of odradek by `make docs`. DO NOT EDIT.

package odradek

import "time"

// Clock has the controls of a cluster whose names begin with `clock`.
type Clock struct {
	kafka *Cluster
}

// Clock returns the controls whose names begin with `clock`.
func (kafka *Cluster) Clock() Clock {
	return Clock{kafka}
}

// Schemas has the controls of a cluster whose names begin with `schemas`.
type Schemas struct {
	kafka *Cluster
}

// Schemas returns the controls whose names begin with `schemas`.
func (kafka *Cluster) Schemas() Schemas {
	return Schemas{kafka}
}

// Wire has the controls of a cluster whose names begin with `wire`.
type Wire struct {
	kafka *Cluster
}

// Wire returns the controls whose names begin with `wire`.
func (kafka *Cluster) Wire() Wire {
	return Wire{kafka}
}

// Acls returns the access control entries in the order in which they were added; none if the
// cluster has no authorizer.
func (control *Control) Acls() (result []AclInfo, err error) {
	err = control.get("/acl/list", arguments{}, nil, &result)
	return result, err
}

// Acls returns the access control entries in the order in which they were added; none if the
// cluster has no authorizer.
func (kafka *Cluster) Acls() []AclInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Acls()
	kafka.check(err)
	return result
}

// Users returns the users with a password for PLAIN or SCRAM credentials, and the super users, by
// name.
func (control *Control) Users() (result []UserInfo, err error) {
	err = control.get("/user/list", arguments{}, nil, &result)
	return result, err
}

// Users returns the users with a password for PLAIN or SCRAM credentials, and the super users, by
// name.
func (kafka *Cluster) Users() []UserInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Users()
	kafka.check(err)
	return result
}

// StartCaptureOptions has the optional parameters of StartCapture. Fields that are not set have
// their defaults.
type StartCaptureOptions struct {
	// Addresses is canonical shows node n as 127.0.0.n:9092.
	Addresses string `json:"addresses,omitempty"`

	// MaxBytes is the size at which another file begins; the one before is kept.
	MaxBytes *int `json:"max_bytes,omitempty"`
}

// StartCapture writes what all clients and brokers send to a file for Wireshark and `odradek
// explain`.
func (control *Control) StartCapture(file string, options ...StartCaptureOptions) error {
	return control.post("/capture/start", arguments{"file": file}, optional(options), nil)
}

// StartCapture writes what all clients and brokers send to a file for Wireshark and `odradek
// explain`.
func (kafka *Cluster) StartCapture(file string, options ...StartCaptureOptions) {
	kafka.t.Helper()
	kafka.check(kafka.Control.StartCapture(file, options...))
}

// StopCapture ends the capture and returns its size.
func (control *Control) StopCapture() (result CaptureInfo, err error) {
	err = control.post("/capture/stop", arguments{}, nil, &result)
	return result, err
}

// StopCapture ends the capture and returns its size.
func (kafka *Cluster) StopCapture() CaptureInfo {
	kafka.t.Helper()
	result, err := kafka.Control.StopCapture()
	kafka.check(err)
	return result
}

// ClientMetrics returns the last pushes of metrics of all nodes, the oldest first.
func (control *Control) ClientMetrics() (result []ClientMetricsPush, err error) {
	err = control.get("/telemetry/list", arguments{}, nil, &result)
	return result, err
}

// ClientMetrics returns the last pushes of metrics of all nodes, the oldest first.
func (kafka *Cluster) ClientMetrics() []ClientMetricsPush {
	kafka.t.Helper()
	result, err := kafka.Control.ClientMetrics()
	kafka.check(err)
	return result
}

// ClockState returns the cluster's time and its speed.
func (control *Control) ClockState() (result ClockState, err error) {
	err = control.get("/clock/show", arguments{}, nil, &result)
	return result, err
}

// State returns the cluster's time and its speed.
func (clock Clock) State() ClockState {
	clock.kafka.t.Helper()
	result, err := clock.kafka.Control.ClockState()
	clock.kafka.check(err)
	return result
}

// ClockFreeze stops the time.
func (control *Control) ClockFreeze() (result ClockState, err error) {
	err = control.post("/clock/freeze", arguments{}, nil, &result)
	return result, err
}

// Freeze stops the time.
func (clock Clock) Freeze() ClockState {
	clock.kafka.t.Helper()
	result, err := clock.kafka.Control.ClockFreeze()
	clock.kafka.check(err)
	return result
}

// ClockRunOptions has the optional parameters of ClockRun. Fields that are not set have their
// defaults.
type ClockRunOptions struct {
	// Speed is how many times as fast as the wall clock the time passes.
	Speed *float64 `json:"speed,omitempty"`
}

// ClockRun lets the time pass, after `freeze` or at another speed: with a speed of 60, an hour
// passes in a minute.
func (control *Control) ClockRun(options ...ClockRunOptions) (result ClockState, err error) {
	err = control.post("/clock/run", arguments{}, optional(options), &result)
	return result, err
}

// Run lets the time pass, after `freeze` or at another speed: with a speed of 60, an hour passes in
// a minute.
func (clock Clock) Run(options ...ClockRunOptions) ClockState {
	clock.kafka.t.Helper()
	result, err := clock.kafka.Control.ClockRun(options...)
	clock.kafka.check(err)
	return result
}

// ClockAdvance moves the time forward by a duration, such as 10m, and returns when all is done.
func (control *Control) ClockAdvance(duration time.Duration) (result ClockState, err error) {
	err = control.post("/clock/advance", arguments{"duration": duration}, nil, &result)
	return result, err
}

// Advance moves the time forward by a duration, such as 10m, and returns when all is done.
func (clock Clock) Advance(duration time.Duration) ClockState {
	clock.kafka.t.Helper()
	result, err := clock.kafka.Control.ClockAdvance(duration)
	clock.kafka.check(err)
	return result
}

// ClockSet moves the time forward to a moment, like `advance`.
func (control *Control) ClockSet(moment time.Time) (result ClockState, err error) {
	err = control.post("/clock/set", arguments{"moment": moment}, nil, &result)
	return result, err
}

// Set moves the time forward to a moment, like `advance`.
func (clock Clock) Set(moment time.Time) ClockState {
	clock.kafka.t.Helper()
	result, err := clock.kafka.Control.ClockSet(moment)
	clock.kafka.check(err)
	return result
}

// StopNodeOptions has the optional parameters of StopNode. Fields that are not set have their
// defaults.
type StopNodeOptions struct {
	// Graceful is move leaders at once; otherwise, when the node's session expires, as after a crash.
	Graceful *bool `json:"graceful,omitempty"`
}

// StopNode stops a node: closes its connections and moves its partitions and groups to other nodes.
func (control *Control) StopNode(node int, options ...StopNodeOptions) error {
	return control.post("/node/stop", arguments{"node": node}, optional(options), nil)
}

// StopNode stops a node: closes its connections and moves its partitions and groups to other nodes.
func (kafka *Cluster) StopNode(node int, options ...StopNodeOptions) {
	kafka.t.Helper()
	kafka.check(kafka.Control.StopNode(node, options...))
}

// StartNode starts a stopped node on the same ports as before and returns once it accepts
// connections.
func (control *Control) StartNode(node int) error {
	return control.post("/node/start", arguments{"node": node}, nil, nil)
}

// StartNode starts a stopped node on the same ports as before and returns once it accepts
// connections.
func (kafka *Cluster) StartNode(node int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.StartNode(node))
}

// PauseNode suspends a node, as SIGSTOP does: clients can connect, but get no answer.
func (control *Control) PauseNode(node int) error {
	return control.post("/node/pause", arguments{"node": node}, nil, nil)
}

// PauseNode suspends a node, as SIGSTOP does: clients can connect, but get no answer.
func (kafka *Cluster) PauseNode(node int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.PauseNode(node))
}

// ResumeNode continues a paused node.
func (control *Control) ResumeNode(node int) error {
	return control.post("/node/resume", arguments{"node": node}, nil, nil)
}

// ResumeNode continues a paused node.
func (kafka *Cluster) ResumeNode(node int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.ResumeNode(node))
}

// Isolate cuts a node off from clients and from the other nodes.
func (control *Control) Isolate(node int) error {
	return control.post("/node/isolate", arguments{"node": node}, nil, nil)
}

// Isolate cuts a node off from clients and from the other nodes.
func (kafka *Cluster) Isolate(node int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.Isolate(node))
}

// Rejoin reconnects an isolated node.
func (control *Control) Rejoin(node int) error {
	return control.post("/node/rejoin", arguments{"node": node}, nil, nil)
}

// Rejoin reconnects an isolated node.
func (kafka *Cluster) Rejoin(node int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.Rejoin(node))
}

// AddNodeOptions has the optional parameters of AddNode. Fields that are not set have their
// defaults.
type AddNodeOptions struct {
	// Node is the id of the new node; by default the next one.
	Node *int `json:"node,omitempty"`

	// Rack is its rack (broker.rack).
	Rack string `json:"rack,omitempty"`
}

// AddNode adds a node with the settings of the first one, on free ports, and returns its id.
func (control *Control) AddNode(options ...AddNodeOptions) (result int, err error) {
	err = control.post("/node/add", arguments{}, optional(options), &result)
	return result, err
}

// AddNode adds a node with the settings of the first one, on free ports, and returns its id.
func (kafka *Cluster) AddNode(options ...AddNodeOptions) int {
	kafka.t.Helper()
	result, err := kafka.Control.AddNode(options...)
	kafka.check(err)
	return result
}

// RemoveNode removes a node for good.
func (control *Control) RemoveNode(node int) error {
	return control.post("/node/remove", arguments{"node": node}, nil, nil)
}

// RemoveNode removes a node for good.
func (kafka *Cluster) RemoveNode(node int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.RemoveNode(node))
}

// Connections returns all open connections in the order in which they were opened.
func (control *Control) Connections() (result []ConnectionInfo, err error) {
	err = control.get("/connection/list", arguments{}, nil, &result)
	return result, err
}

// Connections returns all open connections in the order in which they were opened.
func (kafka *Cluster) Connections() []ConnectionInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Connections()
	kafka.check(err)
	return result
}

// WaitingRequests returns the requests that are not answered yet, with what they wait for, in the
// order of their connections.
func (control *Control) WaitingRequests() (result []WaitingRequest, err error) {
	err = control.get("/connection/waiting", arguments{}, nil, &result)
	return result, err
}

// WaitingRequests returns the requests that are not answered yet, with what they wait for, in the
// order of their connections.
func (kafka *Cluster) WaitingRequests() []WaitingRequest {
	kafka.t.Helper()
	result, err := kafka.Control.WaitingRequests()
	kafka.check(err)
	return result
}

// FaultOptions has the optional parameters of Fault. Fields that are not set have their defaults.
type FaultOptions struct {
	// API is the APIs of the requests, such as Produce.
	API []string `json:"api,omitempty"`

	// MinVersion is the lowest version of the API.
	MinVersion *int `json:"min_version,omitempty"`

	// MaxVersion is the highest version of the API.
	MaxVersion *int `json:"max_version,omitempty"`

	// Node is the id of the node that the client is connected to.
	Node *int `json:"node,omitempty"`

	// Listener is the name of the listener.
	Listener string `json:"listener,omitempty"`

	// ClientID is a pattern for the client id, with * and ?.
	ClientID string `json:"client_id,omitempty"`

	// ClientSoftware is a pattern for name/version of the client library, such as librdkafka/2.*.
	ClientSoftware string `json:"client_software,omitempty"`

	// Principal is a pattern for the principal, such as User:alice.
	Principal string `json:"principal,omitempty"`

	// Peer is a pattern for the address of the client, such as 127.0.0.1.
	Peer string `json:"peer,omitempty"`

	// Connection is the id of a connection.
	Connection *int `json:"connection,omitempty"`

	// Topic is a pattern for the name of a topic; only its part of a request is hit.
	Topic string `json:"topic,omitempty"`

	// Partitions is indexes of partitions; only their part of a request is hit.
	Partitions []int `json:"partitions,omitempty"`

	// Group is a pattern for the id of a group.
	Group string `json:"group,omitempty"`

	// TransactionalID is a pattern for a transactional id.
	TransactionalID string `json:"transactional_id,omitempty"`

	// Subject is a pattern for the subject of a request to the schema registry (api SchemaRegistry).
	Subject string `json:"subject,omitempty"`

	// Path is a pattern for the path of a request to the schema registry, such as /schemas/ids/*.
	Path string `json:"path,omitempty"`

	// Acks is the acks of a Produce: -1 for all, 0 or 1.
	Acks *int `json:"acks,omitempty"`

	// Skip is how many of the matching requests pass first.
	Skip *int `json:"skip,omitempty"`

	// Every is hits every n-th of the matching requests.
	Every *int `json:"every,omitempty"`

	// Times is how many requests are hit at most.
	Times *int `json:"times,omitempty"`

	// Probability is the probability with which a matching request is hit.
	Probability *float64 `json:"probability,omitempty"`

	// After is the time of the cluster from which on requests are hit; a number is milliseconds since
	// 1970.
	After *time.Time `json:"after,omitempty"`

	// Until is the time of the cluster until which requests are hit.
	Until *time.Time `json:"until,omitempty"`

	// Error is the error code of the response, such as NOT_LEADER_OR_FOLLOWER; of the schema registry,
	// such as 50003.
	Error string `json:"error,omitempty"`

	// Status is the HTTP status of the schema registry's answer, such as 503.
	Status *int `json:"status,omitempty"`

	// Stage is whether error and drop come before the work (the default) or after it.
	Stage string `json:"stage,omitempty"`

	// Respond is fields of the response and their values, nested as in the response.
	Respond map[string]any `json:"respond,omitempty"`

	// DelayMs is how long the response waits, in milliseconds of the cluster's time.
	DelayMs *int `json:"delay_ms,omitempty"`

	// JitterMs is how long the response waits in addition at most; the time is random.
	JitterMs *int `json:"jitter_ms,omitempty"`

	// ThrottleMs is the throttle time that the response says, and for which the connection is muted.
	ThrottleMs *int `json:"throttle_ms,omitempty"`

	// Drop is whether the response is not written.
	Drop *bool `json:"drop,omitempty"`

	// Close is how the connection ends when the response is dropped.
	Close string `json:"close,omitempty"`

	// CutAtBytes is how many bytes of the dropped response are written before the connection ends.
	CutAtBytes *int `json:"cut_at_bytes,omitempty"`

	// Hang is whether the request is neither read nor answered, while the connection stays open.
	Hang *bool `json:"hang,omitempty"`

	// HangMs is how long it hangs; without it, until the fault is removed.
	HangMs *int `json:"hang_ms,omitempty"`

	// BytesPerS is the rate at which the response is written.
	BytesPerS *int `json:"bytes_per_s,omitempty"`

	// ChunkBytes is the size of the pieces in which the response is written.
	ChunkBytes *int `json:"chunk_bytes,omitempty"`

	// Corrupt is what is damaged: the CRC, a record or the end of a fetched batch, or the length or
	// correlation id of the response.
	Corrupt string `json:"corrupt,omitempty"`

	// Refuse is new connections are refused (also true), accepted and closed, or accepted and never
	// answered.
	Refuse string `json:"refuse,omitempty"`
}

// Fault adds a fault: the requests that meet all criteria are hit by all acts.
func (control *Control) Fault(options ...FaultOptions) (result FaultInfo, err error) {
	err = control.post("/fault/add", arguments{}, optional(options), &result)
	return result, err
}

// Fault adds a fault: the requests that meet all criteria are hit by all acts.
func (kafka *Cluster) Fault(options ...FaultOptions) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Fault(options...)
	kafka.check(err)
	return result
}

// ListFaults returns the faults of the cluster in the order in which they are consulted.
func (control *Control) ListFaults() (result []FaultInfo, err error) {
	err = control.get("/fault/list", arguments{}, nil, &result)
	return result, err
}

// ListFaults returns the faults of the cluster in the order in which they are consulted.
func (kafka *Cluster) ListFaults() []FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.ListFaults()
	kafka.check(err)
	return result
}

// WaitForFaultOptions has the optional parameters of WaitForFault. Fields that are not set have
// their defaults.
type WaitForFaultOptions struct {
	// Hits is how often the fault must have hit.
	Hits *int `json:"hits,omitempty"`

	// TimeoutS is how long to wait at most, in seconds of the wall clock.
	TimeoutS *float64 `json:"timeout_s,omitempty"`
}

// WaitForFault returns when a fault has hit this many requests.
func (control *Control) WaitForFault(fault int, options ...WaitForFaultOptions) (result FaultInfo, err error) {
	err = control.get("/fault/wait", arguments{"fault": fault}, optional(options), &result)
	return result, err
}

// WaitForFault returns when a fault has hit this many requests.
func (kafka *Cluster) WaitForFault(fault int, options ...WaitForFaultOptions) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.WaitForFault(fault, options...)
	kafka.check(err)
	return result
}

// RemoveFault removes a fault, serves the requests that it holds, and returns what it has hit.
func (control *Control) RemoveFault(fault int) (result FaultInfo, err error) {
	err = control.post("/fault/remove", arguments{"fault": fault}, nil, &result)
	return result, err
}

// RemoveFault removes a fault, serves the requests that it holds, and returns what it has hit.
func (kafka *Cluster) RemoveFault(fault int) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.RemoveFault(fault)
	kafka.check(err)
	return result
}

// RemoveFaults removes all faults and serves the requests that they hold.
func (control *Control) RemoveFaults() error {
	return control.post("/fault/clear", arguments{}, nil, nil)
}

// RemoveFaults removes all faults and serves the requests that they hold.
func (kafka *Cluster) RemoveFaults() {
	kafka.t.Helper()
	kafka.check(kafka.Control.RemoveFaults())
}

// FaultAt adds a fault that hits one request: the n-th of an API by a client in a role, counted
// from now on.
func (control *Control) FaultAt(point string) (result FaultInfo, err error) {
	err = control.post("/fault/point", arguments{"point": point}, nil, &result)
	return result, err
}

// FaultAt adds a fault that hits one request: the n-th of an API by a client in a role, counted
// from now on.
func (kafka *Cluster) FaultAt(point string) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.FaultAt(point)
	kafka.check(err)
	return result
}

// Damage damages stored data once, as no correct Kafka does, to see whether a test notices it.
func (control *Control) Damage(order string) (result FaultInfo, err error) {
	err = control.post("/fault/damage", arguments{"order": order}, nil, &result)
	return result, err
}

// Damage damages stored data once, as no correct Kafka does, to see whether a test notices it.
func (kafka *Cluster) Damage(order string) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Damage(order)
	kafka.check(err)
	return result
}

// LostAcksOptions has the optional parameters of LostAcks. Fields that are not set have their
// defaults.
type LostAcksOptions struct {
	// Times is how many acknowledgements are lost.
	Times *int `json:"times,omitempty"`
}

// LostAcks loses the acknowledgements of a topic: the records are appended, then the connection is
// reset.
func (control *Control) LostAcks(topic string, options ...LostAcksOptions) (result FaultInfo, err error) {
	err = control.post("/fault/preset/lost-acks", arguments{"topic": topic}, optional(options), &result)
	return result, err
}

// LostAcks loses the acknowledgements of a topic: the records are appended, then the connection is
// reset.
func (kafka *Cluster) LostAcks(topic string, options ...LostAcksOptions) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.LostAcks(topic, options...)
	kafka.check(err)
	return result
}

// Flaky resets the connection of some requests, before anything is done, as an unreliable network
// does.
func (control *Control) Flaky(percent float64) (result FaultInfo, err error) {
	err = control.post("/fault/preset/flaky", arguments{"percent": percent}, nil, &result)
	return result, err
}

// Flaky resets the connection of some requests, before anything is done, as an unreliable network
// does.
func (kafka *Cluster) Flaky(percent float64) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Flaky(percent)
	kafka.check(err)
	return result
}

// Firewall lets all requests to a node hang while their connections stay open, as a firewall does
// that drops packets.
func (control *Control) Firewall(node int) (result FaultInfo, err error) {
	err = control.post("/fault/preset/firewall", arguments{"node": node}, nil, &result)
	return result, err
}

// Firewall lets all requests to a node hang while their connections stay open, as a firewall does
// that drops packets.
func (kafka *Cluster) Firewall(node int) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Firewall(node)
	kafka.check(err)
	return result
}

// SlowNetwork delays all responses.
func (control *Control) SlowNetwork(ms int) (result FaultInfo, err error) {
	err = control.post("/fault/preset/slow-network", arguments{"ms": ms}, nil, &result)
	return result, err
}

// SlowNetwork delays all responses.
func (kafka *Cluster) SlowNetwork(ms int) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.SlowNetwork(ms)
	kafka.check(err)
	return result
}

// LeaderElection elects other leaders for a topic.
func (control *Control) LeaderElection(topic string, takes time.Duration) (result FaultInfo, err error) {
	err = control.post("/fault/preset/leader-election", arguments{"topic": topic, "takes": takes}, nil, &result)
	return result, err
}

// LeaderElection elects other leaders for a topic.
func (kafka *Cluster) LeaderElection(topic string, takes time.Duration) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.LeaderElection(topic, takes)
	kafka.check(err)
	return result
}

// CoordinatorMoves moves the coordinator of a group to another node, if there is one.
func (control *Control) CoordinatorMoves(group string) (result FaultInfo, err error) {
	err = control.post("/fault/preset/coordinator-moves", arguments{"group": group}, nil, &result)
	return result, err
}

// CoordinatorMoves moves the coordinator of a group to another node, if there is one.
func (kafka *Cluster) CoordinatorMoves(group string) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.CoordinatorMoves(group)
	kafka.check(err)
	return result
}

// DiskFull lets a node refuse all records with KAFKA_STORAGE_ERROR.
func (control *Control) DiskFull(node int) (result FaultInfo, err error) {
	err = control.post("/fault/preset/disk-full", arguments{"node": node}, nil, &result)
	return result, err
}

// DiskFull lets a node refuse all records with KAFKA_STORAGE_ERROR.
func (kafka *Cluster) DiskFull(node int) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.DiskFull(node)
	kafka.check(err)
	return result
}

// DiskSlow delays what a node writes, as a slow disk does: records, committed offsets and ends of
// transactions.
func (control *Control) DiskSlow(node int, ms int) (result FaultInfo, err error) {
	err = control.post("/fault/preset/disk-slow", arguments{"node": node, "ms": ms}, nil, &result)
	return result, err
}

// DiskSlow delays what a node writes, as a slow disk does: records, committed offsets and ends of
// transactions.
func (kafka *Cluster) DiskSlow(node int, ms int) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.DiskSlow(node, ms)
	kafka.check(err)
	return result
}

// TornWrite lets all nodes crash within the next write to a topic, so that a part of its last batch
// is in the file, and starts them again.
func (control *Control) TornWrite(topic string) (result FaultInfo, err error) {
	err = control.post("/fault/preset/torn-write", arguments{"topic": topic}, nil, &result)
	return result, err
}

// TornWrite lets all nodes crash within the next write to a topic, so that a part of its last batch
// is in the file, and starts them again.
func (kafka *Cluster) TornWrite(topic string) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.TornWrite(topic)
	kafka.check(err)
	return result
}

// NotEnoughReplicas refuses records of a topic with acks=all, as if fewer than min.insync.replicas
// were in sync.
func (control *Control) NotEnoughReplicas(topic string) (result FaultInfo, err error) {
	err = control.post("/fault/preset/not-enough-replicas", arguments{"topic": topic}, nil, &result)
	return result, err
}

// NotEnoughReplicas refuses records of a topic with acks=all, as if fewer than min.insync.replicas
// were in sync.
func (kafka *Cluster) NotEnoughReplicas(topic string) FaultInfo {
	kafka.t.Helper()
	result, err := kafka.Control.NotEnoughReplicas(topic)
	kafka.check(err)
	return result
}

// RollingRestart stops and starts one node after the other, and returns when all have been
// restarted.
func (control *Control) RollingRestart(pauseS float64) error {
	return control.post("/fault/preset/rolling-restart", arguments{"pause_s": pauseS}, nil, nil)
}

// RollingRestart stops and starts one node after the other, and returns when all have been
// restarted.
func (kafka *Cluster) RollingRestart(pauseS float64) {
	kafka.t.Helper()
	kafka.check(kafka.Control.RollingRestart(pauseS))
}

// Outage crashes all running nodes at once and starts them again, and returns when they accept
// connections.
func (control *Control) Outage(seconds float64) error {
	return control.post("/fault/preset/outage", arguments{"seconds": seconds}, nil, nil)
}

// Outage crashes all running nodes at once and starts them again, and returns when they accept
// connections.
func (kafka *Cluster) Outage(seconds float64) {
	kafka.t.Helper()
	kafka.check(kafka.Control.Outage(seconds))
}

// CrashClient makes the cluster see the crash of a client: its connections end, and its sessions in
// groups expire, so that groups rebalance.
func (control *Control) CrashClient(clientID string) (result CrashedClient, err error) {
	err = control.post("/fault/preset/crash-client", arguments{"client_id": clientID}, nil, &result)
	return result, err
}

// CrashClient makes the cluster see the crash of a client: its connections end, and its sessions in
// groups expire, so that groups rebalance.
func (kafka *Cluster) CrashClient(clientID string) CrashedClient {
	kafka.t.Helper()
	result, err := kafka.Control.CrashClient(clientID)
	kafka.check(err)
	return result
}

// Groups returns all groups.
func (control *Control) Groups() (result []GroupInfo, err error) {
	err = control.get("/group/list", arguments{}, nil, &result)
	return result, err
}

// Groups returns all groups.
func (kafka *Cluster) Groups() []GroupInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Groups()
	kafka.check(err)
	return result
}

// ShowGroup returns a group with its members, their partitions, the committed offsets and the lag.
func (control *Control) ShowGroup(group string) (result GroupInfo, err error) {
	err = control.get("/group/show", arguments{"group": group}, nil, &result)
	return result, err
}

// ShowGroup returns a group with its members, their partitions, the committed offsets and the lag.
func (kafka *Cluster) ShowGroup(group string) GroupInfo {
	kafka.t.Helper()
	result, err := kafka.Control.ShowGroup(group)
	kafka.check(err)
	return result
}

// WaitForGroupOptions has the optional parameters of WaitForGroup. Fields that are not set have
// their defaults.
type WaitForGroupOptions struct {
	// Members is the number of members that the group must have.
	Members *int `json:"members,omitempty"`

	// State is the state that the group must have, such as Stable or Empty.
	State string `json:"state,omitempty"`

	// Lag is the highest lag that the group may have, over all partitions.
	Lag *int `json:"lag,omitempty"`

	// Topic is the topic in which the group must have committed an offset.
	Topic string `json:"topic,omitempty"`

	// Partition is the partition of the topic; needed if it has several.
	Partition *int `json:"partition,omitempty"`

	// Committed is the offset that the group must have committed there, or a later one.
	Committed *int `json:"committed,omitempty"`

	// TimeoutS is how long to wait at most, in seconds of the wall clock.
	TimeoutS *float64 `json:"timeout_s,omitempty"`
}

// WaitForGroup waits until a group fulfils all given conditions, and returns it.
func (control *Control) WaitForGroup(group string, options ...WaitForGroupOptions) (result GroupInfo, err error) {
	err = control.get("/group/wait", arguments{"group": group}, optional(options), &result)
	return result, err
}

// WaitForGroup waits until a group fulfils all given conditions, and returns it.
func (kafka *Cluster) WaitForGroup(group string, options ...WaitForGroupOptions) GroupInfo {
	kafka.t.Helper()
	result, err := kafka.Control.WaitForGroup(group, options...)
	kafka.check(err)
	return result
}

// Status returns the identity of the cluster, its size, and its problems.
func (control *Control) Status() (result ClusterInfo, err error) {
	err = control.get("/cluster/show", arguments{}, nil, &result)
	return result, err
}

// Status returns the identity of the cluster, its size, and its problems.
func (kafka *Cluster) Status() ClusterInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Status()
	kafka.check(err)
	return result
}

// Nodes returns all nodes with their states and listeners, in the order of their ids.
func (control *Control) Nodes() (result []NodeInfo, err error) {
	err = control.get("/node/list", arguments{}, nil, &result)
	return result, err
}

// Nodes returns all nodes with their states and listeners, in the order of their ids.
func (kafka *Cluster) Nodes() []NodeInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Nodes()
	kafka.check(err)
	return result
}

// CreateTopicOptions has the optional parameters of CreateTopic. Fields that are not set have their
// defaults.
type CreateTopicOptions struct {
	// Partitions is the number of partitions; by default num.partitions.
	Partitions *int `json:"partitions,omitempty"`

	// ReplicationFactor is the number of replicas; by default default.replication.factor.
	ReplicationFactor *int `json:"replication_factor,omitempty"`

	// Configs is topic settings, such as cleanup.policy.
	Configs map[string]any `json:"configs,omitempty"`
}

// CreateTopic creates a topic and returns its description.
func (control *Control) CreateTopic(topic string, options ...CreateTopicOptions) (result TopicInfo, err error) {
	err = control.post("/topic/create", arguments{"topic": topic}, optional(options), &result)
	return result, err
}

// CreateTopic creates a topic and returns its description.
func (kafka *Cluster) CreateTopic(topic string, options ...CreateTopicOptions) TopicInfo {
	kafka.t.Helper()
	result, err := kafka.Control.CreateTopic(topic, options...)
	kafka.check(err)
	return result
}

// DeleteTopic deletes a topic with its records and the offsets that groups have committed for it.
func (control *Control) DeleteTopic(topic string) error {
	return control.post("/topic/delete", arguments{"topic": topic}, nil, nil)
}

// DeleteTopic deletes a topic with its records and the offsets that groups have committed for it.
func (kafka *Cluster) DeleteTopic(topic string) {
	kafka.t.Helper()
	kafka.check(kafka.Control.DeleteTopic(topic))
}

// Topics returns all topics with their partitions, in the order of their creation.
func (control *Control) Topics() (result []TopicInfo, err error) {
	err = control.get("/topic/list", arguments{}, nil, &result)
	return result, err
}

// Topics returns all topics with their partitions, in the order of their creation.
func (kafka *Cluster) Topics() []TopicInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Topics()
	kafka.check(err)
	return result
}

// ProduceOptions has the optional parameters of Produce. Fields that are not set have their
// defaults.
type ProduceOptions struct {
	// Partition is the partition for all records that name none; by default the key decides.
	Partition *int `json:"partition,omitempty"`
}

// Produce writes records and returns their places in the same order.
func (control *Control) Produce(topic string, records []NewRecord, options ...ProduceOptions) (result []RecordPosition, err error) {
	err = control.post("/record/produce", arguments{"topic": topic, "records": records}, optional(options), &result)
	return result, err
}

// Produce writes records and returns their places in the same order.
func (kafka *Cluster) Produce(topic string, records []NewRecord, options ...ProduceOptions) []RecordPosition {
	kafka.t.Helper()
	result, err := kafka.Control.Produce(topic, records, options...)
	kafka.check(err)
	return result
}

// RecordsOptions has the optional parameters of Records. Fields that are not set have their
// defaults.
type RecordsOptions struct {
	// Partition is only this partition.
	Partition *int `json:"partition,omitempty"`

	// Offset is only records from this offset on.
	Offset *int `json:"offset,omitempty"`

	// Since is begin at the first record with this time or a later one.
	Since *time.Time `json:"since,omitempty"`

	// Limit is at most this many records of each partition.
	Limit *int `json:"limit,omitempty"`

	// MaxBytes is stop in each partition after this many bytes of keys and values.
	MaxBytes *int `json:"max_bytes,omitempty"`
}

// Records returns the records of a topic in the order of partitions and offsets, including open and
// aborted transactions.
func (control *Control) Records(topic string, options ...RecordsOptions) (result []Record, err error) {
	err = control.get("/record/list", arguments{"topic": topic}, optional(options), &result)
	return result, err
}

// Records returns the records of a topic in the order of partitions and offsets, including open and
// aborted transactions.
func (kafka *Cluster) Records(topic string, options ...RecordsOptions) []Record {
	kafka.t.Helper()
	result, err := kafka.Control.Records(topic, options...)
	kafka.check(err)
	return result
}

// DecodedRecordsOptions has the optional parameters of DecodedRecords. Fields that are not set have
// their defaults.
type DecodedRecordsOptions struct {
	// Partition is only this partition.
	Partition *int `json:"partition,omitempty"`

	// Offset is only records from this offset on.
	Offset *int `json:"offset,omitempty"`

	// Since is begin at the first record with this time or a later one.
	Since *time.Time `json:"since,omitempty"`

	// Limit is at most this many records of each partition.
	Limit *int `json:"limit,omitempty"`

	// MaxBytes is stop in each partition after this many bytes of keys and values.
	MaxBytes *int `json:"max_bytes,omitempty"`
}

// DecodedRecords returns the records of a topic as `records` does, with keys and values as JSON if
// they begin with the id of a schema.
func (control *Control) DecodedRecords(topic string, options ...DecodedRecordsOptions) (result []DecodedRecord, err error) {
	err = control.get("/record/decode", arguments{"topic": topic}, optional(options), &result)
	return result, err
}

// DecodedRecords returns the records of a topic as `records` does, with keys and values as JSON if
// they begin with the id of a schema.
func (kafka *Cluster) DecodedRecords(topic string, options ...DecodedRecordsOptions) []DecodedRecord {
	kafka.t.Helper()
	result, err := kafka.Control.DecodedRecords(topic, options...)
	kafka.check(err)
	return result
}

// WaitForRecordsOptions has the optional parameters of WaitForRecords. Fields that are not set have
// their defaults.
type WaitForRecordsOptions struct {
	// TimeoutS is how long to wait at most, in seconds of the wall clock.
	TimeoutS *float64 `json:"timeout_s,omitempty"`
}

// WaitForRecords waits until a topic has `n` records that consumers can read (read_committed), and
// returns all of its records.
func (control *Control) WaitForRecords(topic string, n int, options ...WaitForRecordsOptions) (result []Record, err error) {
	err = control.get("/record/wait", arguments{"topic": topic, "n": n}, optional(options), &result)
	return result, err
}

// WaitForRecords waits until a topic has `n` records that consumers can read (read_committed), and
// returns all of its records.
func (kafka *Cluster) WaitForRecords(topic string, n int, options ...WaitForRecordsOptions) []Record {
	kafka.t.Helper()
	result, err := kafka.Control.WaitForRecords(topic, n, options...)
	kafka.check(err)
	return result
}

// MoveLeader makes an in-sync replica the leader of a partition, in a new leader epoch.
func (control *Control) MoveLeader(topic string, partition int, node int) error {
	return control.post("/leader/move", arguments{"topic": topic, "partition": partition, "node": node}, nil, nil)
}

// MoveLeader makes an in-sync replica the leader of a partition, in a new leader epoch.
func (kafka *Cluster) MoveLeader(topic string, partition int, node int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.MoveLeader(topic, partition, node))
}

// ElectOptions has the optional parameters of Elect. Fields that are not set have their defaults.
type ElectOptions struct {
	// Topic is only this topic.
	Topic string `json:"topic,omitempty"`

	// Partitions is only these partitions of the topic.
	Partitions []int `json:"partitions,omitempty"`
}

// Elect elects leaders where necessary, as kafka-leader-election does, and returns the elections
// that were held.
func (control *Control) Elect(kind string, options ...ElectOptions) (result []Election, err error) {
	err = control.post("/leader/elect", arguments{"kind": kind}, optional(options), &result)
	return result, err
}

// Elect elects leaders where necessary, as kafka-leader-election does, and returns the elections
// that were held.
func (kafka *Cluster) Elect(kind string, options ...ElectOptions) []Election {
	kafka.t.Helper()
	result, err := kafka.Control.Elect(kind, options...)
	kafka.check(err)
	return result
}

// MoveCoordinatorOptions has the optional parameters of MoveCoordinator. Fields that are not set
// have their defaults.
type MoveCoordinatorOptions struct {
	// Group is the id of a group.
	Group string `json:"group,omitempty"`

	// TransactionalID is a transactional id, instead of a group.
	TransactionalID string `json:"transactional_id,omitempty"`
}

// MoveCoordinator makes a node the coordinator of a group or transactional id.
func (control *Control) MoveCoordinator(node int, options ...MoveCoordinatorOptions) error {
	return control.post("/coordinator/move", arguments{"node": node}, optional(options), nil)
}

// MoveCoordinator makes a node the coordinator of a group or transactional id.
func (kafka *Cluster) MoveCoordinator(node int, options ...MoveCoordinatorOptions) {
	kafka.t.Helper()
	kafka.check(kafka.Control.MoveCoordinator(node, options...))
}

// SetReplicas replaces the replicas of a partition.
func (control *Control) SetReplicas(topic string, partition int, replicas []int) error {
	return control.post("/replica/set", arguments{"topic": topic, "partition": partition, "replicas": replicas}, nil, nil)
}

// SetReplicas replaces the replicas of a partition.
func (kafka *Cluster) SetReplicas(topic string, partition int, replicas []int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.SetReplicas(topic, partition, replicas))
}

// HoldReassignments keeps reassignments in progress, also those that clients start, until
// `release_reassignments`.
func (control *Control) HoldReassignments() error {
	return control.post("/reassignment/hold", arguments{}, nil, nil)
}

// HoldReassignments keeps reassignments in progress, also those that clients start, until
// `release_reassignments`.
func (kafka *Cluster) HoldReassignments() {
	kafka.t.Helper()
	kafka.check(kafka.Control.HoldReassignments())
}

// ReleaseReassignments completes the reassignments that were held, and lets new ones complete by
// themselves again.
func (control *Control) ReleaseReassignments() error {
	return control.post("/reassignment/release", arguments{}, nil, nil)
}

// ReleaseReassignments completes the reassignments that were held, and lets new ones complete by
// themselves again.
func (kafka *Cluster) ReleaseReassignments() {
	kafka.t.Helper()
	kafka.check(kafka.Control.ReleaseReassignments())
}

// LagOptions has the optional parameters of Lag. Fields that are not set have their defaults.
type LagOptions struct {
	// Records is the distance at which the replica follows; with 0 it stops where it is.
	Records *int `json:"records,omitempty"`
}

// Lag makes a follower stop, or follow at a distance of `records`, until `catch_up` or until it is
// elected leader.
func (control *Control) Lag(topic string, partition int, node int, options ...LagOptions) error {
	return control.post("/replica/lag", arguments{"topic": topic, "partition": partition, "node": node}, optional(options), nil)
}

// Lag makes a follower stop, or follow at a distance of `records`, until `catch_up` or until it is
// elected leader.
func (kafka *Cluster) Lag(topic string, partition int, node int, options ...LagOptions) {
	kafka.t.Helper()
	kafka.check(kafka.Control.Lag(topic, partition, node, options...))
}

// CatchUp lets a follower that lags catch up.
func (control *Control) CatchUp(topic string, partition int, node int) error {
	return control.post("/replica/catch-up", arguments{"topic": topic, "partition": partition, "node": node}, nil, nil)
}

// CatchUp lets a follower that lags catch up.
func (kafka *Cluster) CatchUp(topic string, partition int, node int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.CatchUp(topic, partition, node))
}

// SchemasRegisterOptions has the optional parameters of SchemasRegister. Fields that are not set
// have their defaults.
type SchemasRegisterOptions struct {
	// SchemaType is the language of the schema.
	SchemaType string `json:"schema_type,omitempty"`

	// References is the versions that the schema refers to: objects with name, subject and version.
	References []SchemaReference `json:"references,omitempty"`
}

// SchemasRegister registers a schema and returns its version.
func (control *Control) SchemasRegister(subject string, schema map[string]any, options ...SchemasRegisterOptions) (result SchemaVersion, err error) {
	err = control.post("/schema/register", arguments{"subject": subject, "schema": schema}, optional(options), &result)
	return result, err
}

// Register registers a schema and returns its version.
func (schemas Schemas) Register(subject string, schema map[string]any, options ...SchemasRegisterOptions) SchemaVersion {
	schemas.kafka.t.Helper()
	result, err := schemas.kafka.Control.SchemasRegister(subject, schema, options...)
	schemas.kafka.check(err)
	return result
}

// SchemasSubjectsOptions has the optional parameters of SchemasSubjects. Fields that are not set
// have their defaults.
type SchemasSubjectsOptions struct {
	// Deleted is also subjects that are soft deleted.
	Deleted *bool `json:"deleted,omitempty"`
}

// SchemasSubjects returns the names of all subjects.
func (control *Control) SchemasSubjects(options ...SchemasSubjectsOptions) (result []string, err error) {
	err = control.get("/schema/list", arguments{}, optional(options), &result)
	return result, err
}

// Subjects returns the names of all subjects.
func (schemas Schemas) Subjects(options ...SchemasSubjectsOptions) []string {
	schemas.kafka.t.Helper()
	result, err := schemas.kafka.Control.SchemasSubjects(options...)
	schemas.kafka.check(err)
	return result
}

// SchemasGetOptions has the optional parameters of SchemasGet. Fields that are not set have their
// defaults.
type SchemasGetOptions struct {
	// Version is a version; by default the latest one.
	Version *int `json:"version,omitempty"`
}

// SchemasGet returns a version of a subject.
func (control *Control) SchemasGet(subject string, options ...SchemasGetOptions) (result SchemaVersion, err error) {
	err = control.get("/schema/show", arguments{"subject": subject}, optional(options), &result)
	return result, err
}

// Get returns a version of a subject.
func (schemas Schemas) Get(subject string, options ...SchemasGetOptions) SchemaVersion {
	schemas.kafka.t.Helper()
	result, err := schemas.kafka.Control.SchemasGet(subject, options...)
	schemas.kafka.check(err)
	return result
}

// SchemasCheckOptions has the optional parameters of SchemasCheck. Fields that are not set have
// their defaults.
type SchemasCheckOptions struct {
	// Version is compare with this version only; by default, the level decides.
	Version *int `json:"version,omitempty"`

	// SchemaType is the language of the schema.
	SchemaType string `json:"schema_type,omitempty"`

	// References is the versions that the schema refers to: objects with name, subject and version.
	References []SchemaReference `json:"references,omitempty"`
}

// SchemasCheck returns whether a schema could be registered in a subject, with the reasons why not.
func (control *Control) SchemasCheck(subject string, schema map[string]any, options ...SchemasCheckOptions) (result SchemaCheck, err error) {
	err = control.get("/schema/check", arguments{"subject": subject, "schema": schema}, optional(options), &result)
	return result, err
}

// Check returns whether a schema could be registered in a subject, with the reasons why not.
func (schemas Schemas) Check(subject string, schema map[string]any, options ...SchemasCheckOptions) SchemaCheck {
	schemas.kafka.t.Helper()
	result, err := schemas.kafka.Control.SchemasCheck(subject, schema, options...)
	schemas.kafka.check(err)
	return result
}

// SchemasDeleteOptions has the optional parameters of SchemasDelete. Fields that are not set have
// their defaults.
type SchemasDeleteOptions struct {
	// Version is only this version; by default all versions.
	Version *int `json:"version,omitempty"`

	// Permanent is delete what is soft deleted, so that its id is unknown.
	Permanent *bool `json:"permanent,omitempty"`
}

// SchemasDelete deletes the versions of a subject and returns their numbers.
func (control *Control) SchemasDelete(subject string, options ...SchemasDeleteOptions) (result []int, err error) {
	err = control.post("/schema/delete", arguments{"subject": subject}, optional(options), &result)
	return result, err
}

// Delete deletes the versions of a subject and returns their numbers.
func (schemas Schemas) Delete(subject string, options ...SchemasDeleteOptions) []int {
	schemas.kafka.t.Helper()
	result, err := schemas.kafka.Control.SchemasDelete(subject, options...)
	schemas.kafka.check(err)
	return result
}

// SchemasSetCompatibilityOptions has the optional parameters of SchemasSetCompatibility. Fields
// that are not set have their defaults.
type SchemasSetCompatibilityOptions struct {
	// Subject is a subject; by default all without a level.
	Subject string `json:"subject,omitempty"`
}

// SchemasSetCompatibility sets the compatibility level of a subject, or that of all subjects
// without one.
func (control *Control) SchemasSetCompatibility(level string, options ...SchemasSetCompatibilityOptions) error {
	return control.post("/schema/compatibility", arguments{"level": level}, optional(options), nil)
}

// SetCompatibility sets the compatibility level of a subject, or that of all subjects without one.
func (schemas Schemas) SetCompatibility(level string, options ...SchemasSetCompatibilityOptions) {
	schemas.kafka.t.Helper()
	schemas.kafka.check(schemas.kafka.Control.SchemasSetCompatibility(level, options...))
}

// Snapshot keeps the present state of the cluster as a snapshot for `restore`, and returns it.
func (control *Control) Snapshot() (result Snapshot, err error) {
	err = control.post("/state/snapshot", arguments{}, nil, &result)
	return result, err
}

// Snapshot keeps the present state of the cluster as a snapshot for `restore`, and returns it.
func (kafka *Cluster) Snapshot() Snapshot {
	kafka.t.Helper()
	result, err := kafka.Control.Snapshot()
	kafka.check(err)
	return result
}

// Restore brings the cluster back to the state of a snapshot, and closes all connections with RST.
func (control *Control) Restore(snapshot int) error {
	return control.post("/state/restore", arguments{"snapshot": snapshot}, nil, nil)
}

// Restore brings the cluster back to the state of a snapshot, and closes all connections with RST.
func (kafka *Cluster) Restore(snapshot int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.Restore(snapshot))
}

// CloseSnapshot releases a snapshot and the memory that only it uses.
func (control *Control) CloseSnapshot(snapshot int) error {
	return control.post("/state/close", arguments{"snapshot": snapshot}, nil, nil)
}

// CloseSnapshot releases a snapshot and the memory that only it uses.
func (kafka *Cluster) CloseSnapshot(snapshot int) {
	kafka.t.Helper()
	kafka.check(kafka.Control.CloseSnapshot(snapshot))
}

// Snapshots returns the snapshots that are not closed, oldest first.
func (control *Control) Snapshots() (result []Snapshot, err error) {
	err = control.get("/state/list", arguments{}, nil, &result)
	return result, err
}

// Snapshots returns the snapshots that are not closed, oldest first.
func (kafka *Cluster) Snapshots() []Snapshot {
	kafka.t.Helper()
	result, err := kafka.Control.Snapshots()
	kafka.check(err)
	return result
}

// Reset brings the cluster back to the state after its start, and closes all connections with RST.
func (control *Control) Reset() error {
	return control.post("/state/reset", arguments{}, nil, nil)
}

// Reset brings the cluster back to the state after its start, and closes all connections with RST.
func (kafka *Cluster) Reset() {
	kafka.t.Helper()
	kafka.check(kafka.Control.Reset())
}

// Save saves the present state to a file, which replaces an existing one, and returns the size of
// the file in bytes.
func (control *Control) Save(file string) (result int, err error) {
	err = control.post("/state/save", arguments{"file": file}, nil, &result)
	return result, err
}

// Save saves the present state to a file, which replaces an existing one, and returns the size of
// the file in bytes.
func (kafka *Cluster) Save(file string) int {
	kafka.t.Helper()
	result, err := kafka.Control.Save(file)
	kafka.check(err)
	return result
}

// ExportLogDirs writes the cluster as log directories, on which Apache Kafka 4.3 or later starts,
// and returns the nodes.
func (control *Control) ExportLogDirs(directory string) (result []ExportedNode, err error) {
	err = control.post("/state/export-log-dirs", arguments{"directory": directory}, nil, &result)
	return result, err
}

// ExportLogDirs writes the cluster as log directories, on which Apache Kafka 4.3 or later starts,
// and returns the nodes.
func (kafka *Cluster) ExportLogDirs(directory string) []ExportedNode {
	kafka.t.Helper()
	result, err := kafka.Control.ExportLogDirs(directory)
	kafka.check(err)
	return result
}

// Transactions returns all transactional ids with their transactions.
func (control *Control) Transactions() (result []TransactionInfo, err error) {
	err = control.get("/transaction/list", arguments{}, nil, &result)
	return result, err
}

// Transactions returns all transactional ids with their transactions.
func (kafka *Cluster) Transactions() []TransactionInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Transactions()
	kafka.check(err)
	return result
}

// WireMark returns the number that the next entry will get.
func (control *Control) WireMark() (result int, err error) {
	err = control.get("/wire/mark", arguments{}, nil, &result)
	return result, err
}

// Mark returns the number that the next entry will get.
func (wire Wire) Mark() int {
	wire.kafka.t.Helper()
	result, err := wire.kafka.Control.WireMark()
	wire.kafka.check(err)
	return result
}

// WireEntriesOptions has the optional parameters of WireEntries. Fields that are not set have their
// defaults.
type WireEntriesOptions struct {
	// Since is the number of the first entry, such as that of an earlier `mark`.
	Since *int `json:"since,omitempty"`

	// Filter is a filter, such as api=Produce and error.
	Filter string `json:"filter,omitempty"`

	// Verbose is whether decoded requests and responses are included.
	Verbose *bool `json:"verbose,omitempty"`
}

// WireEntries returns the exchanges and events from a number on, as JSON objects.
func (control *Control) WireEntries(options ...WireEntriesOptions) (result []map[string]any, err error) {
	err = control.get("/wire/list", arguments{}, optional(options), &result)
	return result, err
}

// Entries returns the exchanges and events from a number on, as JSON objects.
func (wire Wire) Entries(options ...WireEntriesOptions) []map[string]any {
	wire.kafka.t.Helper()
	result, err := wire.kafka.Control.WireEntries(options...)
	wire.kafka.check(err)
	return result
}

// WireDiagramOptions has the optional parameters of WireDiagram. Fields that are not set have their
// defaults.
type WireDiagramOptions struct {
	// Format is text, mermaid, svg or html.
	Format string `json:"format,omitempty"`

	// Since is the number of the first entry, such as that of an earlier `mark`.
	Since *int `json:"since,omitempty"`

	// Filter is a filter, such as api=Produce and error.
	Filter string `json:"filter,omitempty"`
}

// WireDiagram returns a sequence diagram of the exchanges and events from a number on: clients,
// nodes, and arrows with API and version.
func (control *Control) WireDiagram(options ...WireDiagramOptions) (result string, err error) {
	err = control.get("/wire/diagram", arguments{}, optional(options), &result)
	return result, err
}

// Diagram returns a sequence diagram of the exchanges and events from a number on: clients, nodes,
// and arrows with API and version.
func (wire Wire) Diagram(options ...WireDiagramOptions) string {
	wire.kafka.t.Helper()
	result, err := wire.kafka.Control.WireDiagram(options...)
	wire.kafka.check(err)
	return result
}

// WireStoryOptions has the optional parameters of WireStory. Fields that are not set have their
// defaults.
type WireStoryOptions struct {
	// Since is the number of the first entry, such as that of an earlier `mark`.
	Since *int `json:"since,omitempty"`

	// Filter is a filter, such as api=Produce and error.
	Filter string `json:"filter,omitempty"`

	// BeginMs is when times begin, in milliseconds since 1970 by the wall clock; 0 is the first entry.
	BeginMs *float64 `json:"begin_ms,omitempty"`
}

// WireStory returns what the exchanges and events from a number on show, in lines of at most 120
// columns.
func (control *Control) WireStory(options ...WireStoryOptions) (result string, err error) {
	err = control.get("/wire/story", arguments{}, optional(options), &result)
	return result, err
}

// Story returns what the exchanges and events from a number on show, in lines of at most 120
// columns.
func (wire Wire) Story(options ...WireStoryOptions) string {
	wire.kafka.t.Helper()
	result, err := wire.kafka.Control.WireStory(options...)
	wire.kafka.check(err)
	return result
}

// DoctorOptions has the optional parameters of Doctor. Fields that are not set have their defaults.
type DoctorOptions struct {
	// Since is the number of the first entry, such as that of an earlier `mark`.
	Since *int `json:"since,omitempty"`
}

// Doctor returns the mistakes of clients that the record shows, each with the exchanges that show
// it and the settings to change.
func (control *Control) Doctor(options ...DoctorOptions) (result []FindingInfo, err error) {
	err = control.get("/doctor", arguments{}, optional(options), &result)
	return result, err
}

// Doctor returns the mistakes of clients that the record shows, each with the exchanges that show
// it and the settings to change.
func (kafka *Cluster) Doctor(options ...DoctorOptions) []FindingInfo {
	kafka.t.Helper()
	result, err := kafka.Control.Doctor(options...)
	kafka.check(err)
	return result
}

// AclInfo is one access control entry, in Kafka's terms: `pattern_type` is LITERAL or PREFIXED,
// `permission` is ALLOW or DENY.
type AclInfo struct {
	Principal string `json:"principal"`

	Permission string `json:"permission"`

	Operation string `json:"operation"`

	ResourceType string `json:"resource_type"`

	ResourceName string `json:"resource_name"`

	PatternType string `json:"pattern_type"`

	Host string `json:"host"`
}

// CaptureInfo is a capture that has been written: its file, the size of all its files, and the
// error that ended it, if there was one.
type CaptureInfo struct {
	File string `json:"file"`

	WrittenBytes int `json:"written_bytes"`

	Error *string `json:"error"`
}

// ClientMetric is a value of a metric.
type ClientMetric struct {
	Name string `json:"name"`

	Unit string `json:"unit"`

	Kind string `json:"kind"`

	Attributes map[string]any `json:"attributes"`

	TimeMs int `json:"time_ms"`

	Value *float64 `json:"value"`
}

// ClientMetricsPush is a push of metrics by a client.
type ClientMetricsPush struct {
	TimeMs int `json:"time_ms"`

	Node int `json:"node"`

	ClientInstanceID string `json:"client_instance_id"`

	ClientID string `json:"client_id"`

	SoftwareName string `json:"software_name"`

	SoftwareVersion string `json:"software_version"`

	Terminating bool `json:"terminating"`

	Metrics []ClientMetric `json:"metrics"`

	Problem *string `json:"problem"`
}

// ClockState is the cluster's time, and how many times as fast as the wall clock it passes (0 while
// it is frozen).
type ClockState struct {
	Now time.Time `json:"now"`

	Speed float64 `json:"speed"`

	MovingTo *time.Time `json:"moving_to"`
}

// ClusterInfo is the cluster.
type ClusterInfo struct {
	Version string `json:"version"`

	ClusterID string `json:"cluster_id"`

	Controller int `json:"controller"`

	BootstrapServers string `json:"bootstrap_servers"`

	Nodes int `json:"nodes"`

	Topics int `json:"topics"`

	Partitions int `json:"partitions"`

	Groups int `json:"groups"`

	Connections int `json:"connections"`

	LogBytes int `json:"log_bytes"`

	MaxMemoryBytes *int `json:"max_memory_bytes"`

	Problems []string `json:"problems"`
}

// ConnectionInfo is an open connection.
type ConnectionInfo struct {
	Connection int `json:"connection"`

	Node int `json:"node"`

	Listener string `json:"listener"`

	Host string `json:"host"`

	Port int `json:"port"`

	ClientID string `json:"client_id"`

	SoftwareName string `json:"software_name"`

	SoftwareVersion string `json:"software_version"`

	Principal string `json:"principal"`

	WaitsFor *string `json:"waits_for"`
}

// CrashedClient is the number of connections that a crash of a client has ended, and the groups in
// which its sessions have expired.
type CrashedClient struct {
	Connections int `json:"connections"`

	Groups []string `json:"groups"`
}

// DecodedData is a key or value with the id of a schema.
type DecodedData struct {
	SchemaID int `json:"schema_id"`

	SchemaType *string `json:"schema_type"`

	Subjects []string `json:"subjects"`

	Data *string `json:"data"`

	Error *string `json:"error"`
}

// DecodedRecord is a stored record with what its key and value are by their schemas, nil for data
// that do not begin with the id of a schema.
type DecodedRecord struct {
	Topic string `json:"topic"`

	Partition int `json:"partition"`

	Offset int `json:"offset"`

	Timestamp int `json:"timestamp"`

	Key Bytes `json:"key"`

	Value Bytes `json:"value"`

	Headers []Header `json:"headers"`

	Transaction *string `json:"transaction"`

	DecodedKey *DecodedData `json:"decoded_key"`

	DecodedValue *DecodedData `json:"decoded_value"`
}

// Election is a partition that has elected a leader.
type Election struct {
	Topic string `json:"topic"`

	Partition int `json:"partition"`

	Leader int `json:"leader"`

	LeaderEpoch int `json:"leader_epoch"`
}

// Exchange is a request that a fault has hit.
type Exchange struct {
	TimeMs int `json:"time_ms"`

	Node int `json:"node"`

	Connection int `json:"connection"`

	ClientID string `json:"client_id"`

	API string `json:"api"`

	Version int `json:"version"`

	CorrelationID int `json:"correlation_id"`

	Topics []string `json:"topics"`
}

// ExportedNode is the log directory of a node that was written for Apache Kafka.
type ExportedNode struct {
	Node int `json:"node"`

	LogBytes int `json:"log_bytes"`

	Command string `json:"command"`
}

// FaultInfo is a fault: its number, its options, and what it has hit.
type FaultInfo struct {
	Fault int `json:"fault"`

	Options string `json:"options"`

	Hits int `json:"hits"`

	Exchanges []Exchange `json:"exchanges"`

	Missed string `json:"missed"`

	Removed bool `json:"removed"`
}

// FindingInfo is a mistake of a client: what happened, what to change, the settings to look up, and
// what shows it.
type FindingInfo struct {
	Name string `json:"name"`

	Client string `json:"client"`

	Problem string `json:"problem"`

	Advice string `json:"advice"`

	Settings []string `json:"settings"`

	Exchanges []int `json:"exchanges"`

	Lines []string `json:"lines"`
}

// GroupInfo is a group.
type GroupInfo struct {
	GroupID string `json:"group_id"`

	Type string `json:"type"`

	State string `json:"state"`

	Protocol string `json:"protocol"`

	Epoch int `json:"epoch"`

	Coordinator int `json:"coordinator"`

	Members []MemberInfo `json:"members"`

	Offsets []OffsetInfo `json:"offsets"`

	Lag *int `json:"lag"`
}

// ListenerInfo is one listener of a node, with the address on which it listens and the one that it
// advertises to clients.
type ListenerInfo struct {
	Name string `json:"name"`

	SecurityProtocol string `json:"security_protocol"`

	Host string `json:"host"`

	Port int `json:"port"`

	Advertised string `json:"advertised"`
}

// MemberInfo is one member of a group.
type MemberInfo struct {
	MemberID string `json:"member_id"`

	InstanceID *string `json:"instance_id"`

	ClientID string `json:"client_id"`

	ClientHost string `json:"client_host"`

	Topics []string `json:"topics"`

	Assignment map[string][]int `json:"assignment"`
}

// NewRecord is a record to write.
type NewRecord struct {
	Value Bytes `json:"value,omitempty"`

	Key Bytes `json:"key,omitempty"`

	Headers map[string]Bytes `json:"headers,omitempty"`

	Timestamp *int `json:"timestamp,omitempty"`

	Partition *int `json:"partition,omitempty"`
}

// NodeInfo is one node.
type NodeInfo struct {
	Node int `json:"node"`

	State string `json:"state"`

	Fenced bool `json:"fenced"`

	Controller bool `json:"controller"`

	Rack *string `json:"rack"`

	Listeners []ListenerInfo `json:"listeners"`

	Leaders int `json:"leaders"`

	Replicas int `json:"replicas"`

	OutOfSync int `json:"out_of_sync"`

	Connections int `json:"connections"`
}

// OffsetInfo is the progress of a group in a partition.
type OffsetInfo struct {
	Topic string `json:"topic"`

	Partition int `json:"partition"`

	Committed *int `json:"committed"`

	Metadata string `json:"metadata"`

	Lag int `json:"lag"`
}

// PartitionInfo is one partition: its leader (-1: none), replicas, in-sync replicas, and the
// offsets between which there are records.
type PartitionInfo struct {
	Partition int `json:"partition"`

	Leader int `json:"leader"`

	LeaderEpoch int `json:"leader_epoch"`

	Replicas []int `json:"replicas"`

	ISR []int `json:"isr"`

	StartOffset int `json:"start_offset"`

	HighWatermark int `json:"high_watermark"`

	EndOffset int `json:"end_offset"`

	SizeBytes int `json:"size_bytes"`
}

// Record is a stored record.
type Record struct {
	Topic string `json:"topic"`

	Partition int `json:"partition"`

	Offset int `json:"offset"`

	Timestamp int `json:"timestamp"`

	Key Bytes `json:"key"`

	Value Bytes `json:"value"`

	Headers []Header `json:"headers"`

	Transaction *string `json:"transaction"`
}

// RecordPosition is the place of a record that was written.
type RecordPosition struct {
	Partition int `json:"partition"`

	Offset int `json:"offset"`
}

// SchemaCheck is whether a schema is compatible with a subject, and the reasons why it is not.
type SchemaCheck struct {
	IsCompatible bool `json:"is_compatible"`

	Messages []string `json:"messages"`
}

// SchemaReference is a reference of a schema to a version of a subject, under the name by which the
// schema calls it.
type SchemaReference struct {
	Name string `json:"name"`

	Subject string `json:"subject"`

	Version int `json:"version"`
}

// SchemaVersion is a version of a subject.
type SchemaVersion struct {
	Subject string `json:"subject"`

	Version int `json:"version"`

	ID int `json:"id"`

	Type string `json:"type"`

	Schema string `json:"schema"`
}

// Snapshot is a handle of a snapshot.
type Snapshot struct {
	ID int `json:"id"`

	TakenMs int `json:"taken_ms"`

	Topics int `json:"topics"`

	LogBytes int `json:"log_bytes"`
}

// TopicInfo is one topic with the configs that differ from the defaults.
type TopicInfo struct {
	Name string `json:"name"`

	Internal bool `json:"internal"`

	Configs map[string]string `json:"configs"`

	Partitions []PartitionInfo `json:"partitions"`
}

// TransactionInfo is a transactional id and its last transaction.
type TransactionInfo struct {
	TransactionalID string `json:"transactional_id"`

	ProducerID int `json:"producer_id"`

	ProducerEpoch int `json:"producer_epoch"`

	State string `json:"state"`

	TimeoutMs int `json:"timeout_ms"`

	Started *time.Time `json:"started"`

	Partitions map[string][]int `json:"partitions"`

	Coordinator int `json:"coordinator"`
}

// UserInfo is one user.
type UserInfo struct {
	Name string `json:"name"`

	Mechanisms []string `json:"mechanisms"`

	SuperUser bool `json:"super_user"`
}

// WaitingRequest is a request that is not answered yet, and what it waits for, in words.
type WaitingRequest struct {
	Connection int `json:"connection"`

	Node int `json:"node"`

	Peer string `json:"peer"`

	ClientID string `json:"client_id"`

	Software string `json:"software"`

	API string `json:"api"`

	Version int `json:"version"`

	WaitsFor []string `json:"waits_for"`

	LeftMs *int `json:"left_ms"`
}
