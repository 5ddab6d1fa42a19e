// A shop sends an order, and counts how often it is stored. Its producer is
// idempotent, which is franz-go's default.
package main

import (
	"context"
	"log"
	"os"
	"os/exec"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	servers := strings.Split(os.Getenv("BOOTSTRAP_SERVERS"), ",")
	producer, err := kgo.NewClient(kgo.SeedBrokers(servers...))
	if err != nil {
		log.Fatal(err)
	}
	order := &kgo.Record{Topic: "orders", Value: []byte("order-1")}
	produced := producer.ProduceSync(context.Background(), order)
	if err := produced.FirstErr(); err != nil {
		log.Fatal(err)
	}
	producer.Close()
	listing := exec.Command("odradek", "ctl", "record", "list", "orders")
	records, err := listing.CombinedOutput()
	if count := strings.Count(string(records), "order-1"); err != nil || count != 1 {
		log.Fatalf("error: the order is stored %d times", count)
	}
}
