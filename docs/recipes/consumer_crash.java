import io.github.odradekkafka.*;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.junit.jupiter.api.*;
/** A consumer that crashes while it charges an order has not committed it. */
@OdradekTest class ConsumerCrashTest {
    void charge(Odradek kafka, String name, Consumer<String> card) {
        try (var consumer = new KafkaConsumer<String, String>(kafka.clientConfig(
        "group.id", "billing", "group.instance.id", name, "max.poll.records", 1))) {
            consumer.subscribe(List.of("orders"));
            var orders = consumer.poll(Duration.ofSeconds(10)).iterator();
            card.accept(orders.next().value());
            consumer.commitSync();
        }
    }
    @Test void orderOfCrashedConsumerIsDeliveredAgain(Odradek kafka) {
        kafka.produce("orders", "order-1", "order-2");
        Consumer<String> crash = Integer::parseInt; // the order is not a number
        Assertions.assertThrows(Exception.class, () -> charge(kafka, "a", crash));
        kafka.clock().advance(Duration.ofSeconds(45)); // session.timeout.ms
        charge(kafka, "b", order -> Assertions.assertEquals("order-1", order));
    }
}
