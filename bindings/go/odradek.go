// Package odradek starts Kafka clusters for tests: real brokers in a process of their own, which
// ends with the test, with faults, a clock that can be moved, snapshots and a record of all requests.
//
//	kafka := odradek.Start(t, odradek.Nodes(2), odradek.Topic("orders", 4))
//	client, err := kgo.NewClient(kgo.SeedBrokers(kafka.Brokers()...))
//
// If the variable ODRADEK_CONTROL has the address of a running cluster, as below `odradek serve --exec`
// and `odradek explore --exec`, that cluster is used, with the topics of the options. Otherwise the
// program is found as the variable ODRADEK says, as odradek on the PATH, or as the module of
// python3. If the test fails, the report of the cluster is logged.
package odradek

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Cluster is a cluster in a test. Its methods fail the test if the cluster refuses what they ask;
// those of Control return errors instead, also to other goroutines than that of the test.
type Cluster struct {
	// BootstrapServers has the addresses of all nodes, separated by commas.
	BootstrapServers string

	// Control has the controls as methods that return errors.
	Control *Control

	t    testing.TB
	mark int
}

// Option is an argument of Start.
type Option func(*settings)

type settings struct {
	arguments []string
	topics    []topic
	address   string
}

type topic struct {
	name    string
	options CreateTopicOptions
}

// Nodes sets the number of nodes, 2 by default.
func Nodes(count int) Option {
	return Arguments("--nodes", strconv.Itoa(count))
}

// Topic creates a topic with partitions and, if given, a number of replicas.
func Topic(name string, partitions int, replicas ...int) Option {
	text, options := fmt.Sprintf("%s:%d", name, partitions), CreateTopicOptions{Partitions: &partitions}
	for _, count := range replicas {
		text += fmt.Sprintf(":%d", count)
		options.ReplicationFactor = &count
	}
	return func(settings *settings) {
		settings.arguments = append(settings.arguments, "--topic", text)
		settings.topics = append(settings.topics, topic{name, options})
	}
}

// Set sets a setting of Kafka, such as auto.create.topics.enable, for all nodes.
func Set(key, value string) Option {
	return Arguments("--set", key+"="+value)
}

// Arguments adds arguments of `odradek serve`, such as "--as-version", "3.9".
func Arguments(arguments ...string) Option {
	return func(settings *settings) { settings.arguments = append(settings.arguments, arguments...) }
}

// Running uses a running cluster instead of starting one. The address is that of its control listener.
func Running(address string) Option {
	return func(settings *settings) { settings.address = address }
}

// Start starts a cluster, which is stopped at the end of the test.
func Start(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	settings := collect(options)
	if settings.address != "" {
		return attachRunning(t, settings)
	}
	process, err := startProcess(settings.arguments)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.stop)
	return attach(t, process.control)
}

// Shared returns a cluster in its state after the start. When the test has ended, a later test that
// asks for the same options gets the same process, so that it pays milliseconds for a reset instead
// of a start. Tests that run in parallel never share a process.
func Shared(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	settings := collect(options)
	if settings.address != "" {
		return attachRunning(t, settings)
	}
	key := strings.Join(settings.arguments, "\x00")
	process := takeIdle(key)
	if process == nil {
		started, err := startProcess(settings.arguments)
		if err != nil {
			t.Fatal(err)
		}
		process = started
	} else if err := process.control.Reset(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { giveBack(key, process) })
	return attach(t, process.control)
}

// For returns the cluster for another test, such as a subtest, which fails instead of the first one.
func (kafka *Cluster) For(t testing.TB) *Cluster {
	t.Helper()
	return attach(t, kafka.Control)
}

// Brokers returns the addresses of all nodes.
func (kafka *Cluster) Brokers() []string {
	return strings.Split(kafka.BootstrapServers, ",")
}

func collect(options []Option) *settings {
	collected := &settings{address: os.Getenv("ODRADEK_CONTROL")}
	for _, option := range options {
		option(collected)
	}
	return collected
}

// attachRunning returns a running cluster for a test, with the topics that it lacks.
func attachRunning(t testing.TB, settings *settings) *Cluster {
	t.Helper()
	kafka := attach(t, &Control{Address: settings.address})
	existing := map[string]bool{}
	for _, topic := range kafka.Topics() {
		existing[topic.Name] = true
	}
	for _, topic := range settings.topics {
		if !existing[topic.name] {
			kafka.CreateTopic(topic.name, topic.options)
		}
	}
	return kafka
}

// attach returns the cluster for a test, and logs the report when the test has failed.
func attach(t testing.TB, control *Control) *Cluster {
	t.Helper()
	kafka := &Cluster{Control: control, t: t}
	status, err := control.Status()
	kafka.check(err)
	kafka.BootstrapServers = status.BootstrapServers
	kafka.mark, err = control.WireMark()
	kafka.check(err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(kafka.report())
		}
	})
	return kafka
}

func (kafka *Cluster) check(err error) {
	kafka.t.Helper()
	if err != nil {
		kafka.t.Fatal(err)
	}
}

var (
	idleLock sync.Mutex
	idle     = map[string][]*process{}
)

func takeIdle(key string) *process {
	idleLock.Lock()
	defer idleLock.Unlock()
	processes := idle[key]
	if len(processes) == 0 {
		return nil
	}
	idle[key] = processes[:len(processes)-1]
	return processes[len(processes)-1]
}

func giveBack(key string, process *process) {
	idleLock.Lock()
	defer idleLock.Unlock()
	idle[key] = append(idle[key], process)
}
