package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OrderProcessorTest {
    private final Control control = new Control(System.getenv("ODRADEK_CONTROL"));
    private OrderProcessor processor;

    @BeforeEach
    void start() throws Exception {
        control.post("/state/reset", "{}");
        for (String topic : List.of("orders", "invoices")) {
            control.post("/topic/create", "{\"topic\": \"" + topic + "\", \"partitions\": 1, \"replication_factor\": 2}");
        }
        String nodes = control.get("/cluster/show");
        processor = new OrderProcessor(Pattern.compile("\"bootstrap_servers\": \"([^\"]+)").matcher(nodes).results()
            .findFirst().orElseThrow().group(1));
    }

    @AfterEach
    void stop() throws Exception {
        processor.close();
    }

    @Test
    void orderIsInvoiced() throws Exception {
        order("book");
        assertEquals(List.of("invoice for book"), invoices(1));
    }

    @Test
    void ordersAreInvoicedWhileANodeIsStopped() throws Exception {
        order("book");
        invoices(1);
        control.post("/node/stop", "{\"node\": 2}");
        order("pen");
        assertEquals(List.of("invoice for book", "invoice for pen"), invoices(2));
        control.post("/node/start", "{\"node\": 2}");
    }

    @Test
    void lostAcknowledgementCausesNoSecondInvoice() throws Exception {
        String fault = Control.field("fault", control.post("/fault/preset/lost-acks", "{\"topic\": \"invoices\"}"));
        order("book");
        control.get("/fault/wait?timeout_s=30&fault=" + fault);
        consumed();
        assertEquals(List.of("invoice for book"), invoices(1));
    }

    @Test
    void ordersAreInvoicedAfterTheSessionHasExpired() throws Exception {
        order("book");
        consumed();
        control.post("/clock/advance", "{\"duration\": \"10m\"}");
        order("pen");
        consumed();
        // An order whose commit fails is read again, so that it may have two invoices.
        assertEquals(Set.of("invoice for book", "invoice for pen"), Set.copyOf(invoices(2)));
    }

    private void order(String item) throws Exception {
        control.post("/record/produce", "{\"topic\": \"orders\", \"records\": [\"" + item + "\"]}");
    }

    /** Waits until all orders are committed. */
    private void consumed() throws Exception {
        control.get("/group/wait?group=invoicing&members=1&state=Stable&lag=0&timeout_s=30");
    }

    /** Waits for n invoices and returns all that there are. */
    private List<String> invoices(int n) throws Exception {
        String records = control.get("/record/wait?topic=invoices&timeout_s=30&n=" + n);
        return Pattern.compile("\"value\": \"([^\"]*)\"").matcher(records).results().map(found -> found.group(1)).toList();
    }
}
