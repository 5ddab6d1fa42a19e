import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;

/**
 * A consumer crashes while it charges an order. The test proves that the order is not committed before, so that another one gets it.
 * Closing a static member does not leave the group, so that the cluster sees no difference from a crash.
 */
class ConsumerCrashTest {
    private interface Charge { void charge(String order) throws Exception; }

    private static void chargeNextOrder(String member, Charge charge) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", System.getenv("BOOTSTRAP_SERVERS"), "group.instance.id", member,
            "group.id", "billing", "auto.offset.reset", "earliest", "enable.auto.commit", false, "max.poll.records", 1);
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of("orders"));
            for (var order : consumer.poll(Duration.ofSeconds(10))) charge.charge(order.value());
            consumer.commitSync();
        }
    }

    @Test
    void orderOfCrashedConsumerIsDeliveredAgain() throws Exception {
        List<String> charged = new ArrayList<>();
        for (var command : List.of("state reset", "record produce orders order-1 order-2")) ctl(command);
        Charge crash = order -> { throw new IllegalStateException("crashed"); };
        assertThrows(IllegalStateException.class, () -> chargeNextOrder("first", crash));
        ctl("clock advance 45s"); // session.timeout.ms
        chargeNextOrder("second", charged::add);
        assertEquals(List.of("order-1"), charged);
    }

    private static void ctl(String command) throws Exception {
        assertEquals(0, new ProcessBuilder(("odradek ctl " + command).split(" ")).inheritIO().start().waitFor(), command);
    }
}
