package orders

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestOrderReachesTheShop(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")...),
		kgo.ConsumerGroup("shop"),
		kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	order := &kgo.Record{
		Topic: "orders", Key: []byte("alice"), Value: []byte("one apple"),
	}
	if err := client.ProduceSync(ctx, order).FirstErr(); err != nil {
		t.Fatal(err)
	}
	fetches := client.PollFetches(ctx)
	if err := fetches.Err(); err != nil {
		t.Fatal(err)
	}
	if value := string(fetches.Records()[0].Value); value != "one apple" {
		t.Fatalf("read %q", value)
	}
}
