// What a client in pure Go, franz-go, makes of a cluster: `purego version BOOTSTRAP_SERVER`.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

const patience = 30 * time.Second

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	scenarios := map[string]func(context.Context, []string) error{"version": version}
	if err := scenarios[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Prints the version of Kafka that franz-go takes the broker for.
func version(ctx context.Context, arguments []string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(arguments[0]))
	if err != nil {
		return err
	}
	defer client.Close()
	request := kmsg.NewPtrApiVersionsRequest()
	request.ClientSoftwareName, request.ClientSoftwareVersion = "odradek", "1"
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	fmt.Println(kversion.FromApiVersionsResponse(answer).VersionGuess())
	return nil
}
