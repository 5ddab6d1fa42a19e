package recipes

import (
	"testing"

	odradek "github.com/odradek-kafka/odradek/bindings/go"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A record is stored, but its acknowledgement is lost: an idempotent producer (the
// default of franz-go) sends it again without storing it twice.
func TestLostAcks(t *testing.T) {
	kafka := odradek.Start(t, odradek.Topic("orders", 1))
	fault := kafka.LostAcks("orders")
	producer, _ := kgo.NewClient(kgo.SeedBrokers(kafka.Brokers()...))
	t.Cleanup(producer.Close)
	order := &kgo.Record{Topic: "orders", Value: []byte("order-1")}
	if err := producer.ProduceSync(t.Context(), order).FirstErr(); err != nil {
		t.Fatal(err)
	}
	kafka.WaitForFault(fault.Fault)
	if records := kafka.Records("orders"); len(records) != 1 {
		t.Fatal(records)
	}
}
