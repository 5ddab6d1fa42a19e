// Prints the version of Kafka that franz-go detects: `franz_go ADDRESS`.
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

const patience = 60 * time.Second

func main() {
	limited, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	request := kmsg.NewPtrApiVersionsRequest()
	request.ClientSoftwareName, request.ClientSoftwareVersion = "odradek", "1"
	answer, err := request.RequestWith(limited, client)
	if err != nil {
		panic(err)
	}
	fmt.Println(kversion.FromApiVersionsResponse(answer).VersionGuess())
}
