package odradek_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	odradek "github.com/odradek-kafka/odradek/bindings/go"
)

func TestClusterHasTheNodesAndTopicsOfItsOptions(t *testing.T) {
	t.Parallel()
	kafka := odradek.Start(t, odradek.Nodes(3), odradek.Topic("orders", 4, 2), odradek.Set("num.partitions", "5"))
	if len(kafka.Brokers()) != 3 || len(kafka.Nodes()) != 3 {
		t.Fatal(kafka.BootstrapServers)
	}
	topics := kafka.Topics()
	if len(topics) != 1 || len(topics[0].Partitions) != 4 || len(topics[0].Partitions[0].Replicas) != 2 {
		t.Fatalf("%+v", topics)
	}
	if created := kafka.CreateTopic("more"); len(created.Partitions) != 5 {
		t.Fatalf("%+v", created)
	}
}

func TestRecordsKeepTextBytesNullAndHeaders(t *testing.T) {
	t.Parallel()
	kafka := odradek.Start(t, odradek.Nodes(1), odradek.Topic("orders", 1))
	binary := odradek.Bytes{0xff, 0}
	kafka.Produce("orders", []odradek.NewRecord{
		{Key: odradek.Bytes("k"), Value: odradek.Bytes("one"), Headers: map[string]odradek.Bytes{"trace_id": binary}},
		{Key: binary, Partition: odradek.Ptr(0)},
	})
	records := kafka.WaitForRecords("orders", 2)
	first, second := records[0], records[1]
	if first.Value.String() != "one" || first.Headers[0].Name != "trace_id" || !bytes.Equal(first.Headers[0].Value, binary) {
		t.Errorf("%+v", first)
	}
	if second.Value != nil || !bytes.Equal(second.Key, binary) || second.Offset != 1 {
		t.Errorf("%+v", second)
	}
	if late := kafka.Records("orders", odradek.RecordsOptions{Offset: odradek.Ptr(1)}); len(late) != 1 {
		t.Errorf("%+v", late)
	}
}

func TestClockFaultsNodesAndSnapshotsAreControlled(t *testing.T) {
	t.Parallel()
	kafka := odradek.Start(t, odradek.Nodes(2), odradek.Topic("orders", 1))
	before := kafka.Clock().Freeze().Now
	if moved := kafka.Clock().Advance(90 * time.Minute).Now.Sub(before); moved != 90*time.Minute {
		t.Error(moved)
	}
	fault := kafka.Fault(odradek.FaultOptions{API: []string{"Produce", "Fetch"}, DelayMs: odradek.Ptr(5), Times: odradek.Ptr(2)})
	if listed := kafka.ListFaults(); len(listed) != 1 || listed[0].Fault != fault.Fault {
		t.Errorf("%+v", listed)
	}
	snapshot := kafka.Snapshot()
	kafka.Produce("orders", odradek.Values("one"))
	kafka.StopNode(2, odradek.StopNodeOptions{Graceful: odradek.Ptr(false)})
	if state := kafka.Nodes()[1].State; state != "stopped" {
		t.Error(state)
	}
	kafka.StartNode(2)
	kafka.Restore(snapshot.ID)
	if records := kafka.Records("orders"); len(records) != 0 {
		t.Errorf("%+v", records)
	}
}

func TestRefusedControlReturnsItsReason(t *testing.T) {
	t.Parallel()
	kafka := odradek.Start(t)
	var problem *odradek.Error
	if err := kafka.Control.StopNode(9); !errors.As(err, &problem) || problem.Status != 400 || problem.Parameter != "node" {
		t.Errorf("%+v", err)
	}
	if _, err := kafka.Control.WaitForRecords("orders", 1, odradek.WaitForRecordsOptions{TimeoutS: odradek.Ptr(0.01)}); err == nil {
		t.Error("no error for a topic without records")
	}
}

func TestSharedClusterIsResetAndNeverSharedAtTheSameTime(t *testing.T) {
	addresses := map[string]int{}
	for index := range 4 {
		t.Run(fmt.Sprint("alone ", index), func(t *testing.T) {
			kafka := odradek.Shared(t, odradek.Nodes(1), odradek.Topic("orders", 1))
			addresses[kafka.BootstrapServers]++
			if records := kafka.Records("orders"); len(records) != 0 {
				t.Errorf("%+v", records)
			}
			kafka.Produce("orders", odradek.Values("one"))
			other := odradek.Shared(t, odradek.Nodes(1), odradek.Topic("orders", 1))
			if other.BootstrapServers == kafka.BootstrapServers {
				t.Error("two clusters at the same time are one")
			}
		})
	}
	if len(addresses) > 2 {
		t.Error(addresses)
	}
}

func TestClusterOfAnotherTestStopsWithIt(t *testing.T) {
	t.Parallel()
	var address string
	t.Run("inner", func(t *testing.T) {
		kafka := odradek.Start(t)
		address = kafka.Brokers()[0]
		attached := odradek.Start(t, odradek.Running(kafka.Control.Address))
		if attached.BootstrapServers != kafka.BootstrapServers {
			t.Error(attached.BootstrapServers)
		}
	})
	if connection, err := net.Dial("tcp", address); err == nil {
		connection.Close()
		t.Error("the broker still listens at", address)
	}
}

func TestClusterOfTheEnvironmentIsUsedWithItsTopics(t *testing.T) {
	kafka := odradek.Start(t, odradek.Topic("orders", 1))
	kafka.Produce("orders", odradek.Values("one"))
	t.Setenv("ODRADEK_CONTROL", kafka.Control.Address)
	found := odradek.Start(t, odradek.Topic("orders", 4), odradek.Topic("more", 3, 2))
	if found.BootstrapServers != kafka.BootstrapServers || len(found.Records("orders")) != 1 {
		t.Error(found.BootstrapServers)
	}
	if more := found.Topics()[1]; len(more.Partitions) != 3 || len(more.Partitions[0].Replicas) != 2 {
		t.Errorf("%+v", more)
	}
}

// The tests below run this test binary once more, with a test in it that fails or is killed.

const inner = "ODRADEK_INNER_TEST"

func run(t *testing.T, name string) *exec.Cmd {
	if os.Getenv(inner) != "" {
		t.Skip("the inner test runs nothing itself")
	}
	command := exec.Command(os.Args[0], "-test.run", "^"+name+"$", "-test.v")
	command.Env = append(os.Environ(), inner+"=1")
	return command
}

func TestInnerFailing(t *testing.T) {
	if os.Getenv(inner) == "" {
		t.Skip("runs as a part of another test")
	}
	kafka := odradek.Start(t, odradek.Topic("orders", 1))
	kafka.Fault(odradek.FaultOptions{API: []string{"Produce"}, Error: "NOT_LEADER_OR_FOLLOWER"})
	kafka.StopNode(2)
	kafka.DeleteTopic("none")
}

func TestReportOfAFailedTestNamesTheCause(t *testing.T) {
	t.Parallel()
	output, err := run(t, "TestInnerFailing").CombinedOutput()
	if err == nil {
		t.Fatal("the inner test has passed")
	}
	for _, expected := range []string{
		"odradek_test.go:", "there is no topic 'none'", "what happened on the cluster", "node 2", "0 hits",
	} {
		if !strings.Contains(string(output), expected) {
			t.Errorf("no %q in %s", expected, output)
		}
	}
}

func TestInnerKilled(t *testing.T) {
	if os.Getenv(inner) == "" {
		t.Skip("runs as a part of another test")
	}
	kafka := odradek.Start(t, odradek.Nodes(1))
	fmt.Println("address=" + kafka.BootstrapServers)
	for _, err := kafka.Control.Status(); err == nil; _, err = kafka.Control.Status() {
		time.Sleep(100 * time.Millisecond)
	}
}

func TestKilledTestLeavesNoBrokerBehind(t *testing.T) {
	t.Parallel()
	killLeavesNoBroker(t, run(t, "TestInnerKilled"))
}

func TestKilledGoTestLeavesNoBrokerBehind(t *testing.T) {
	t.Parallel()
	program := run(t, "TestInnerKilled")
	command := exec.Command("go", "test", "-count=1", "-v", "-run", "^TestInnerKilled$", ".")
	command.Env = program.Env
	killLeavesNoBroker(t, command)
}

func killLeavesNoBroker(t *testing.T, command *exec.Cmd) {
	t.Helper()
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	for lines := bufio.NewScanner(output); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "address=")
	}
	if connection, err := net.Dial("tcp", address); err != nil {
		t.Error(err)
	} else {
		connection.Close()
	}
	command.Process.Kill()
	output.Close()
	command.Wait()
	for deadline := time.Now().Add(10 * time.Second); ; {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		connection.Close()
		if time.Now().After(deadline) {
			t.Fatal("the broker still listens at", address)
		}
	}
}
