// Package orders writes an invoice for each order.
package orders

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Processor reads the topic orders in the group invoicing and writes to the topic invoices. An order is committed when its invoice is
// acknowledged.
type Processor struct {
	client *kgo.Client
}

// NewProcessor returns a processor that is a client of the given bootstrap servers.
func NewProcessor(bootstrapServers ...string) (*Processor, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrapServers...),
		kgo.ConsumerGroup("invoicing"),
		kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.MetadataMinAge(100*time.Millisecond), // so that a new leader is found soon
	)
	return &Processor{client}, err
}

// Run processes orders until the context is cancelled. It leaves the group when it returns.
func (processor *Processor) Run(ctx context.Context) error {
	defer processor.client.Close()
	for {
		orders := processor.poll(ctx)
		if ctx.Err() != nil {
			return nil
		}
		for _, order := range orders.Records() {
			invoice := &kgo.Record{Topic: "invoices", Key: order.Key, Value: append([]byte("invoice for "), order.Value...)}
			if err := processor.client.ProduceSync(ctx, invoice).FirstErr(); err != nil {
				return ignoreCancelled(err)
			}
		}
		// A commit fails during a rebalance, and after the session has expired. It is repeated with the next poll, unless the orders
		// since the last commit are read again.
		_ = processor.client.CommitUncommittedOffsets(ctx)
	}
}

func (processor *Processor) poll(ctx context.Context) kgo.Fetches {
	second, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return processor.client.PollFetches(second)
}

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
