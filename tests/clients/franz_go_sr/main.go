// Registers schemas with franz-go's package sr, encodes and decodes a value with its Serde, and prints what the registry has answered.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/sr"
)

type order struct {
	ID int64 `json:"id"`
}

const (
	withID    = `{"type": "object", "properties": {"id": {"type": "integer"}}, "additionalProperties": false}`
	withText  = `{"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": false}`
	withField = `{"type": "object", "properties": {"id": {"type": "integer"}, "note": {}}, "additionalProperties": false}`
)

func main() {
	client, err := sr.NewClient(sr.URLs(os.Args[1]))
	exitOn(err)
	ctx, subject := context.Background(), "orders-value"
	first, err := client.CreateSchema(ctx, subject, jsonSchema(withID))
	exitOn(err)
	second, err := client.CreateSchema(ctx, subject, jsonSchema(withField))
	exitOn(err)
	found, err := client.LookupSchema(ctx, subject, jsonSchema(withID))
	exitOn(err)
	_, refused := client.CreateSchema(ctx, subject, jsonSchema(withText))
	var reason *sr.ResponseError
	if !errors.As(refused, &reason) {
		exitOn(fmt.Errorf("the incompatible schema was not refused: %v", refused))
	}
	checked, err := client.CheckCompatibility(ctx, subject, -1, jsonSchema(withText))
	exitOn(err)
	level := client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, subject)
	exitOn(level[0].Err)
	_, err = client.SchemaByID(ctx, 99)
	var unknown *sr.ResponseError
	errors.As(err, &unknown)
	fmt.Println(first.Version, second.Version, found.ID == first.ID, reason.ErrorCode, checked.Is, level[0].Level, unknown.ErrorCode)
	fmt.Println(roundTrip(first.ID))
	versions, err := client.SubjectVersions(ctx, subject)
	exitOn(err)
	deleted, err := client.DeleteSubject(ctx, subject, sr.SoftDelete)
	exitOn(err)
	subjects, err := client.Subjects(ctx)
	exitOn(err)
	fmt.Println(versions, deleted, len(subjects))
}

func roundTrip(id int) order {
	var serde sr.Serde
	serde.Register(id, order{}, sr.EncodeFn(json.Marshal), sr.DecodeFn(json.Unmarshal))
	var decoded order
	exitOn(serde.Decode(serde.MustEncode(order{ID: 7}), &decoded))
	return decoded
}

func jsonSchema(text string) sr.Schema { return sr.Schema{Schema: text, Type: sr.TypeJSON} }

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
