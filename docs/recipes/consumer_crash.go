// A consumer crashes while it charges an order. The test proves that the order is
// not committed before, so that another one gets it. Closing a static member does
// not leave the group, so that the cluster sees no difference from a crash.
package recipes

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func chargeNextOrder(t *testing.T, name string, charge func(order string) error) {
	servers := strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")
	consumer, _ := kgo.NewClient(
		kgo.SeedBrokers(servers...), kgo.DisableAutoCommit(), kgo.InstanceID(name),
		kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"))
	defer consumer.Close()
	order := consumer.PollRecords(t.Context(), 1).Records()[0]
	if charge(string(order.Value)) == nil {
		consumer.CommitRecords(t.Context(), order)
	}
}

func TestConsumerCrash(t *testing.T) {
	ctl := func(command string) {
		arguments := strings.Fields("ctl " + command)
		output, err := exec.Command("odradek", arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s", command, output)
		}
	}
	ctl("state reset")
	ctl("record produce orders order-1 order-2")
	chargeNextOrder(t, "first", func(string) error { return os.ErrProcessDone })
	ctl("clock advance 45s") // session.timeout.ms
	charged := ""
	chargeNextOrder(t, "second", func(order string) error {
		charged = order
		return nil
	})
	if charged != "order-1" {
		t.Fatal("order-1 is lost")
	}
}
