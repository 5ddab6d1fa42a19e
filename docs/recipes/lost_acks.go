// A record is stored, but its acknowledgement is lost, so that the producer sends the record again. The test proves that the producer is
// idempotent, which is franz-go's default: otherwise the record would be stored twice.
package recipes

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func idempotentProducer() (*kgo.Client, error) {
	return kgo.NewClient(kgo.SeedBrokers(strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")...))
}

func TestLostAcks(t *testing.T) {
	ctl := func(command string) string {
		output, err := exec.Command("odradek", strings.Fields("ctl "+command)...).CombinedOutput()
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
	if err := producer.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: []byte("order-1")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if records := ctl("record list orders"); strings.Count(records, "order-1") != 1 {
		t.Fatal(records)
	}
}
