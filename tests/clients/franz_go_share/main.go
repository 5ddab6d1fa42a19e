// Produces 300 records and reads them as a member of a share group, which releases every 10th record once:
// `franz_go_share ADDRESS TOPIC GROUP`.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	records  = 300
	patience = 100 * time.Second
)

func main() {
	address, topic, group := os.Args[1], os.Args[2], os.Args[3]
	limited, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	produce(limited, address, topic)
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeTopics(topic), kgo.ShareGroup(group))
	check(err)
	accepted, released, delivered := 0, 0, 0
	for accepted < records && limited.Err() == nil {
		client.PollFetches(limited).EachRecord(func(record *kgo.Record) {
			delivered++
			number, err := strconv.Atoi(string(record.Value))
			check(err)
			if number%10 == 0 && record.DeliveryCount() == 1 {
				released++
				record.Ack(kgo.AckRelease)
			} else {
				accepted++
				record.Ack(kgo.AckAccept)
			}
		})
	}
	check(client.FlushAcks(limited))
	client.Close()
	fmt.Printf("accepted %d released %d delivered %d\n", accepted, released, delivered)
}

func produce(limited context.Context, address, topic string) {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic))
	check(err)
	defer client.Close()
	for number := range records {
		check(client.ProduceSync(limited, kgo.StringRecord(strconv.Itoa(number))).FirstErr())
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
