// Runs franz-go's kfake in a process of its own: prints its address, and ends when standard input is closed.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(1), kfake.AllowAutoTopicCreation())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println("bootstrap.servers=" + cluster.ListenAddrs()[0])
	io.Copy(io.Discard, os.Stdin)
}
