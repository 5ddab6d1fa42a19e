// A record is stored, but its acknowledgement is lost, so that the producer sends
// it again. The test proves that the producer is idempotent, which is franz-go's
// default: otherwise the record would be stored twice.
package recipes

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func idempotentProducer() (*kgo.Client, error) {
	servers := strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")
	return kgo.NewClient(kgo.SeedBrokers(servers...))
}

func TestLostAcks(t *testing.T) {
	ctl := func(command string) string {
		arguments := strings.Fields("ctl " + command)
		output, err := exec.Command("odradek", arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s", command, output)
		}
		return string(output)
	}
	ctl("state reset")
	ctl("topic create orders 1")
	ctl("fault preset lost-acks orders")
	producer, err := idempotentProducer()
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	order := &kgo.Record{Topic: "orders", Value: []byte("order-1")}
	if err := producer.ProduceSync(t.Context(), order).FirstErr(); err != nil {
		t.Fatal(err)
	}
	records := ctl("record list orders")
	if strings.Count(records, "order-1") != 1 {
		t.Fatal(records)
	}
}
