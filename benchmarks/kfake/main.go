// Runs franz-go's kfake in a process of its own: prints its address, and ends when standard input is closed. An argument is the directory
// in which it keeps its data.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.DefaultNumPartitions(1), kfake.AllowAutoTopicCreation()}
	if len(os.Args) > 1 {
		options = append(options, kfake.DataDir(os.Args[1]))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println("bootstrap.servers=" + cluster.ListenAddrs()[0])
	io.Copy(io.Discard, os.Stdin)
}
