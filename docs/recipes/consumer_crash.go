// A consumer crashes while it charges an order. The test proves that the order is not committed before, so that another one gets it.
// Closing a static member does not leave the group, so that the cluster sees no difference from a crash.
package recipes

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func chargeNextOrder(t *testing.T, member kgo.Opt, charge func(order string) error) {
	group := []kgo.Opt{member, kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit()}
	consumer, _ := kgo.NewClient(append(group, kgo.SeedBrokers(strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")...))...)
	defer consumer.Close()
	if order := consumer.PollRecords(t.Context(), 1).Records()[0]; charge(string(order.Value)) == nil {
		consumer.CommitRecords(t.Context(), order)
	}
}

func TestConsumerCrash(t *testing.T) {
	ctl := func(command string) {
		if output, err := exec.Command("odradek", strings.Fields("ctl "+command)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", command, output)
		}
	}
	ctl("state reset")
	ctl("record produce orders order-1 order-2")
	chargeNextOrder(t, kgo.InstanceID("first"), func(string) error { return os.ErrProcessDone })
	ctl("clock advance 45s") // session.timeout.ms
	charged := ""
	chargeNextOrder(t, kgo.InstanceID("second"), func(order string) error { charged = order; return nil })
	if charged != "order-1" {
		t.Fatal("order-1 is lost")
	}
}
