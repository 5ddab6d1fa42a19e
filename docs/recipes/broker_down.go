// A leader crashes before its follower has copied an order. The test proves that
// the producer sends the order to the next leader again.
package recipes

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func durableProducer() (*kgo.Client, error) {
	servers := strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")
	durable := kgo.RequiredAcks(kgo.AllISRAcks())
	return kgo.NewClient(kgo.SeedBrokers(servers...), durable)
}

func TestBrokerDown(t *testing.T) {
	ctl := func(command string) string {
		arguments := strings.Fields("ctl " + command)
		output, err := exec.Command("odradek", arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s", command, output)
		}
		return string(output)
	}
	ctl("state reset")
	ctl("topic create orders 1 2")
	ctl("leader move orders 0 1")
	ctl("replica lag orders 0 2")
	producer, _ := durableProducer()
	defer producer.Close()
	sent := make(chan error, 1)
	order := &kgo.Record{Topic: "orders", Value: []byte("order-1")}
	acknowledge := func(_ *kgo.Record, err error) { sent <- err }
	producer.Produce(t.Context(), order, acknowledge)
	for !strings.Contains(ctl("record list orders"), "order-1") {
	}
	ctl("node stop 1 --no-graceful")
	ctl("clock advance 9s") // broker.session.timeout.ms: node 2 becomes leader
	err := <-sent
	if err != nil || !strings.Contains(ctl("record list orders"), "order-1") {
		t.Fatal("the order is lost:", err)
	}
}
