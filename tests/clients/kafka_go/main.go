// A group reader on a topic that only its own request for metadata creates, and a writer that comes a little later.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	address, topic := os.Args[1], os.Args[2]
	limited, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{address}, Topic: topic, GroupID: topic, MaxWait: 100 * time.Millisecond})
	writer := &kafka.Writer{Addr: kafka.TCP(address), Topic: topic, BatchTimeout: time.Millisecond, AllowAutoTopicCreation: true}
	go func() {
		time.Sleep(300 * time.Millisecond)
		for writer.WriteMessages(limited, kafka.Message{Value: []byte("written")}) != nil && limited.Err() == nil {
		}
	}()
	message, err := reader.ReadMessage(limited)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(string(message.Value))
}
