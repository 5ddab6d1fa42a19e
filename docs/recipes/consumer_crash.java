import static org.junit.jupiter.api.Assertions.*;

import java.io.EOFException;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;

/**
 * A consumer crashes while it charges an order. The test proves that the order is
 * not committed before, so that another one gets it. Closing a static member does
 * not leave the group, so that the cluster sees no difference from a crash.
 */
class ConsumerCrashTest {
    private interface Charge { void charge(String order) throws Exception; }

    private static void chargeNext(String name, Charge charge) throws Exception {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", System.getenv("BOOTSTRAP_SERVERS"),
            "group.id", "billing", "group.instance.id", name, "max.poll.records", 1,
            "auto.offset.reset", "earliest", "enable.auto.commit", false);
        var text = new StringDeserializer();
        try (var consumer = new KafkaConsumer<>(settings, text, text)) {
            consumer.subscribe(List.of("orders"));
            var orders = consumer.poll(Duration.ofSeconds(10));
            for (var order : orders) charge.charge(order.value());
            consumer.commitSync();
        }
    }

    @Test
    void orderOfCrashedConsumerIsDeliveredAgain() throws Exception {
        List<String> charged = new ArrayList<>();
        ctl("state reset");
        ctl("record produce orders order-1 order-2");
        Charge crash = order -> { throw new EOFException("crashed"); };
        assertThrows(EOFException.class, () -> chargeNext("first", crash));
        ctl("clock advance 45s"); // session.timeout.ms
        chargeNext("second", charged::add);
        assertEquals(List.of("order-1"), charged);
    }

    private static void ctl(String command) throws Exception {
        var builder = new ProcessBuilder(("odradek ctl " + command).split(" "));
        assertEquals(0, builder.inheritIO().start().waitFor(), command);
    }
}
