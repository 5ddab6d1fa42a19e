package orders

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// start resets the cluster and starts a processor, which is stopped after the test.
func start(t *testing.T) control {
	control := newControl(t)
	control.post("/state/reset", map[string]any{}, nil)
	for _, topic := range []string{"orders", "invoices"} {
		control.post("/topic/create", map[string]any{"topic": topic, "partitions": 1, "replication_factor": 2}, nil)
	}
	var cluster struct {
		BootstrapServers string `json:"bootstrap_servers"`
	}
	control.get("/cluster/show", &cluster)
	processor, err := NewProcessor(strings.Split(cluster.BootstrapServers, ",")...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- processor.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return control
}

func TestOrderIsInvoiced(t *testing.T) {
	control := start(t)
	control.order("book")
	control.expectInvoices("invoice for book")
}

func TestOrdersAreInvoicedWhileANodeIsStopped(t *testing.T) {
	control := start(t)
	control.order("book")
	control.expectInvoices("invoice for book")
	control.post("/node/stop", map[string]any{"node": 2}, nil)
	control.order("pen")
	control.expectInvoices("invoice for book", "invoice for pen")
	control.post("/node/start", map[string]any{"node": 2}, nil)
}

func TestLostAcknowledgementCausesNoSecondInvoice(t *testing.T) {
	control := start(t)
	var added struct{ Fault int }
	control.post("/fault/preset/lost-acks", map[string]any{"topic": "invoices"}, &added)
	control.order("book")
	control.get(fmt.Sprintf("/fault/wait?timeout_s=30&fault=%d", added.Fault), nil)
	control.consumed()
	control.expectInvoices("invoice for book")
}

func TestOrdersAreInvoicedAfterTheSessionHasExpired(t *testing.T) {
	control := start(t)
	control.order("book")
	control.consumed()
	control.post("/clock/advance", map[string]any{"duration": "10m"}, nil)
	control.order("pen")
	control.consumed()
	// An order whose commit fails is read again, so that it may have two invoices.
	if found := slices.Compact(control.invoices(2)); !slices.Equal(found, []string{"invoice for book", "invoice for pen"}) {
		t.Errorf("invoices %q", found)
	}
}

func (control control) order(item string) {
	control.t.Helper()
	control.post("/record/produce", map[string]any{"topic": "orders", "records": []string{item}}, nil)
}

// consumed waits until all orders are committed.
func (control control) consumed() {
	control.t.Helper()
	control.get("/group/wait?group=invoicing&members=1&state=Stable&lag=0&timeout_s=30", nil)
}

// invoices waits for n invoices and returns all that there are.
func (control control) invoices(n int) []string {
	control.t.Helper()
	var records []struct{ Value string }
	control.get(fmt.Sprintf("/record/wait?topic=invoices&timeout_s=30&n=%d", n), &records)
	var found []string
	for _, record := range records {
		found = append(found, record.Value)
	}
	return found
}

func (control control) expectInvoices(expected ...string) {
	control.t.Helper()
	if found := control.invoices(len(expected)); !slices.Equal(found, expected) {
		control.t.Errorf("invoices %q, expected %q", found, expected)
	}
}
