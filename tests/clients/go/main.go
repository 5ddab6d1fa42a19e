// Reads the calls of child.py from standard input and writes their results to standard output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/confluentinc/confluent-kafka-go/kafka"
)

const patience = 120 * time.Second

type call struct {
	On   int
	Call string
	With []json.RawMessage
}

// An object whose methods are called by name; results are JSON values or further objects.
type object interface {
	do(name string, with arguments) (any, error)
}

type arguments []json.RawMessage

func (with arguments) read(targets ...any) error {
	for i, target := range targets {
		if err := json.Unmarshal(with[i], target); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	objects := []object{client{}}
	requests, answers := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := requests.ReadBytes('\n')
		if err != nil {
			return
		}
		var request call
		if err := json.Unmarshal(line, &request); err != nil {
			panic(err)
		}
		result, err := objects[request.On].do(request.Call, request.With)
		if err != nil {
			answers.Encode(map[string]any{"error": err.Error()})
			continue
		}
		if made, ok := result.(object); ok {
			objects = append(objects, made)
			result = len(objects) - 1
		}
		answers.Encode(map[string]any{"result": result})
	}
}

type client struct{}

func (client) do(name string, with arguments) (any, error) {
	var servers, topic, third string
	if err := with.read(&servers); err != nil {
		return nil, err
	}
	config := kafka.ConfigMap{"bootstrap.servers": servers, "topic.metadata.refresh.interval.ms": 100, "log_level": 0}
	switch name {
	case "nodes":
		return nodes(&config)
	case "create_topic":
		if err := with.read(&servers, &topic); err != nil {
			return nil, err
		}
		return nil, createTopic(&config, topic)
	case "producer":
		var idempotent bool
		if err := with.read(&servers, &topic, &third, &idempotent); err != nil {
			return nil, err
		}
		config["acks"], config["compression.type"], config["enable.idempotence"] = "all", third, idempotent
		opened, err := kafka.NewProducer(&config)
		return &producer{opened, topic, 0}, err
	case "member":
		if err := with.read(&servers, &topic, &third); err != nil {
			return nil, err
		}
		config["group.id"], config["auto.offset.reset"] = third, "earliest"
		config["enable.auto.commit"], config["heartbeat.interval.ms"] = false, 200
		opened, err := kafka.NewConsumer(&config)
		if err != nil {
			return nil, err
		}
		return &member{opened}, opened.Subscribe(topic, nil)
	}
	return nil, fmt.Errorf("no call %s", name)
}

func nodes(config *kafka.ConfigMap) (any, error) {
	admin, err := kafka.NewAdminClient(config)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	metadata, err := admin.GetMetadata(nil, true, int(patience.Milliseconds()))
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, broker := range metadata.Brokers {
		found[fmt.Sprint(broker.ID)] = fmt.Sprintf("%s:%d", broker.Host, broker.Port)
	}
	return found, nil
}

func createTopic(config *kafka.ConfigMap, topic string) error {
	admin, err := kafka.NewAdminClient(config)
	if err != nil {
		return err
	}
	defer admin.Close()
	wanted := []kafka.TopicSpecification{{Topic: topic, NumPartitions: 2, ReplicationFactor: 2}}
	results, err := admin.CreateTopics(context.Background(), wanted, kafka.SetAdminOperationTimeout(patience))
	if err == nil && results[0].Error.Code() != kafka.ErrNoError {
		return results[0].Error
	}
	return err
}

type producer struct {
	*kafka.Producer
	topic string
	sent  int
}

func (p *producer) do(name string, with arguments) (any, error) {
	switch name {
	case "send":
		var records []record
		if err := with.read(&records); err != nil {
			return nil, err
		}
		for _, record := range records {
			if err := p.Produce(record.message(p.topic), nil); err != nil {
				return nil, err
			}
			p.sent++
		}
		return nil, nil
	case "flush":
		return nil, p.settle()
	case "close":
		p.Close()
		return nil, nil
	}
	return nil, fmt.Errorf("no call %s", name)
}

func (p *producer) settle() error {
	deadline := time.After(patience)
	for ; p.sent > 0; p.sent-- {
		select {
		case event := <-p.Events():
			message, ok := event.(*kafka.Message)
			if !ok {
				p.sent++ // an event about a lost connection, not a delivery report
			} else if message.TopicPartition.Error != nil {
				return message.TopicPartition.Error
			}
		case <-deadline:
			return fmt.Errorf("%d records without an answer", p.sent)
		}
	}
	return nil
}

type member struct{ *kafka.Consumer }

func (m *member) do(name string, with arguments) (any, error) {
	switch name {
	case "poll":
		var timeoutS float64
		if err := with.read(&timeoutS); err != nil {
			return nil, err
		}
		return m.poll(int(timeoutS * 1000)), nil
	case "assignment":
		assigned, err := m.Assignment()
		partitions := []int{}
		for _, partition := range assigned {
			partitions = append(partitions, int(partition.Partition))
		}
		sort.Ints(partitions)
		return partitions, err
	case "commit":
		_, err := m.Commit()
		return nil, err
	case "close":
		return nil, m.Close()
	}
	return nil, fmt.Errorf("no call %s", name)
}

func (m *member) poll(timeoutMs int) []record {
	records := []record{}
	for len(records) < 1000 {
		event := m.Poll(timeoutMs)
		if event == nil {
			break
		}
		if message, ok := event.(*kafka.Message); ok {
			records = append(records, recordOf(message))
		}
		timeoutMs = 0
	}
	return records
}

// The JSON of a record: an array of its fields; bytes are base64, nil is null.
type record struct {
	partition   int32
	key, value  []byte
	headers     []header
	timestampMs *int64
}

type header struct {
	name  string
	value []byte
}

func (r record) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{r.partition, r.key, r.value, r.headers, r.timestampMs})
}

func (r *record) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&r.partition, &r.key, &r.value, &r.headers, &r.timestampMs})
}

func (h header) MarshalJSON() ([]byte, error) { return json.Marshal([]any{h.name, h.value}) }
func (h *header) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&h.name, &h.value})
}

func (r record) message(topic string) *kafka.Message {
	message := kafka.Message{TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: r.partition}, Key: r.key, Value: r.value}
	for _, header := range r.headers {
		message.Headers = append(message.Headers, kafka.Header{Key: header.name, Value: header.value})
	}
	if r.timestampMs != nil {
		message.Timestamp = time.UnixMilli(*r.timestampMs)
	}
	return &message
}

func recordOf(message *kafka.Message) record {
	timestampMs := message.Timestamp.UnixMilli()
	headers := []header{}
	for _, got := range message.Headers {
		headers = append(headers, header{got.Key, got.Value})
	}
	return record{message.TopicPartition.Partition, message.Key, message.Value, headers, &timestampMs}
}
