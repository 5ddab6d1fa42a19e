package recipes

import (
	odradek "github.com/odradek-kafka/odradek/bindings/go"
	"github.com/twmb/franz-go/pkg/kgo"
	"testing"
	"time"
)

// A leader crashes before its follower has an order: the producer sends it again.
func TestBrokerDown(t *testing.T) {
	kafka := odradek.Start(t, odradek.Topic("orders", 1, 2))
	kafka.MoveLeader("orders", 0, 1)
	kafka.Lag("orders", 0, 2)
	producer, _ := kgo.NewClient(kgo.SeedBrokers(kafka.Brokers()...))
	defer producer.Close()
	producer.Produce(t.Context(), &kgo.Record{Topic: "orders"}, nil)
	for len(kafka.Records("orders")) == 0 {
	}
	kafka.StopNode(1, odradek.StopNodeOptions{Graceful: odradek.Ptr(false)})
	kafka.Clock().Advance(9 * time.Second) // broker.session.timeout.ms
	if producer.Flush(t.Context()); len(kafka.Records("orders")) != 1 {
		t.Fatal("the order is lost")
	}
}
