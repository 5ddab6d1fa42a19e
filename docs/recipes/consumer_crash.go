package recipes

import (
	odradek "github.com/odradek-kafka/odradek/bindings/go"
	"github.com/twmb/franz-go/pkg/kgo"
	"testing"
)

// A consumer that crashes while it charges an order has not committed the order.
func TestConsumerCrash(t *testing.T) {
	kafka := odradek.Start(t)
	kafka.Produce("orders", odradek.Values("order-1", "order-2"))
	for _, crashes := range []bool{true, false} {
		consumer, _ := kgo.NewClient(
			kgo.SeedBrokers(kafka.Brokers()...), kgo.DisableAutoCommit(),
			kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"))
		order := consumer.PollRecords(t.Context(), 1).Records()[0]
		if string(order.Value) != "order-1" {
			t.Fatal("order-1 is lost")
		} else if !crashes {
			consumer.CommitRecords(t.Context(), order)
		}
		consumer.Close()
	}
}
