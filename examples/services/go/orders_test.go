package orders

import (
	"testing"

	odradek "github.com/odradek-kafka/odradek/bindings/go"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestOrderReachesTheShop(t *testing.T) {
	t.Parallel()
	kafka := odradek.Start(t, odradek.Topic("orders", 4))
	client, err := kgo.NewClient(
		kgo.SeedBrokers(kafka.Brokers()...),
		kgo.ConsumerGroup("shop"),
		kgo.ConsumeTopics("orders"),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	order := &kgo.Record{
		Topic: "orders", Key: []byte("alice"), Value: []byte("one apple"),
	}
	if err := client.ProduceSync(t.Context(), order).FirstErr(); err != nil {
		t.Fatal(err)
	}
	fetches := client.PollFetches(t.Context())
	if value := string(fetches.Records()[0].Value); value != "one apple" {
		t.Fatalf("read %q", value)
	}
}

func TestOrderIsStoredOnceAlthoughItsAcknowledgementIsLost(t *testing.T) {
	t.Parallel()
	kafka := odradek.Start(t, odradek.Topic("orders", 1))
	fault := kafka.LostAcks("orders")
	client, err := kgo.NewClient(kgo.SeedBrokers(kafka.Brokers()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	order := &kgo.Record{Topic: "orders", Value: []byte("two pears")}
	if err := client.ProduceSync(t.Context(), order).FirstErr(); err != nil {
		t.Fatal(err)
	}
	kafka.WaitForFault(fault.Fault)
	if records := kafka.Records("orders"); len(records) != 1 {
		t.Fatal(records)
	}
}
