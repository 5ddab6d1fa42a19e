// Reads auto-created topics with a group reader: `kafka_go ADDRESS SITUATION`.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

const patience = 60 * time.Second

func main() {
	address, situation := os.Args[1], os.Args[2]
	limited, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	value, err := situations[situation](limited, address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(value)
}

var situations = map[string]func(context.Context, string) (string, error){
	// The reader requests the topic first, and the writer starts later.
	"reader-first": func(limited context.Context, address string) (string, error) {
		reader := kafka.NewReader(config(address, kafka.ReaderConfig{Topic: "first"}))
		go writeLater(limited, address, "first")
		return read(limited, reader)
	},
	// The same with two topics; records are written only to the second.
	"two-topics": func(limited context.Context, address string) (string, error) {
		reader := kafka.NewReader(config(address, kafka.ReaderConfig{GroupTopics: []string{"one", "two"}}))
		go writeLater(limited, address, "two")
		return read(limited, reader)
	},
	// A connection to the leader of the new topic writes before the reader starts.
	"dialled-first": func(limited context.Context, address string) (string, error) {
		leader, err := kafka.DialLeader(limited, "tcp", address, "dialled", 0)
		if err != nil {
			return "", err
		}
		defer leader.Close()
		if _, err := leader.Write([]byte("written")); err != nil {
			return "", err
		}
		return read(limited, kafka.NewReader(config(address, kafka.ReaderConfig{Topic: "dialled", StartOffset: kafka.FirstOffset})))
	},
}

func config(address string, config kafka.ReaderConfig) kafka.ReaderConfig {
	config.Brokers, config.GroupID, config.MaxWait = []string{address}, "group", 100*time.Millisecond
	return config
}

func read(limited context.Context, reader *kafka.Reader) (string, error) {
	message, err := reader.ReadMessage(limited)
	return string(message.Value), err
}

func writeLater(limited context.Context, address, topic string) {
	time.Sleep(300 * time.Millisecond)
	writer := &kafka.Writer{Addr: kafka.TCP(address), Topic: topic, BatchTimeout: time.Millisecond, AllowAutoTopicCreation: true}
	for writer.WriteMessages(limited, kafka.Message{Value: []byte("written")}) != nil && limited.Err() == nil {
	}
}
