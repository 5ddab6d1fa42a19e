import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

class OrdersTest {
    private static final String SERVERS = System.getenv("BOOTSTRAP_SERVERS");

    @Test
    void orderReachesTheShop() throws Exception {
        Map<String, Object> writing = Map.of("bootstrap.servers", SERVERS);
        var text = new StringSerializer();
        try (var producer = new KafkaProducer<>(writing, text, text)) {
            var order = new ProducerRecord<>("orders", "alice", "one apple");
            producer.send(order).get();
        }

        Map<String, Object> reading = Map.of(
            "bootstrap.servers", SERVERS,
            "group.id", "shop",
            "auto.offset.reset", "earliest");
        var read = new StringDeserializer();
        try (var consumer = new KafkaConsumer<>(reading, read, read)) {
            consumer.subscribe(List.of("orders"));
            var records = consumer.poll(Duration.ofSeconds(30));
            assertEquals(1, records.count(), "orders within 30 s");
            assertEquals("one apple", records.iterator().next().value());
        }
    }
}
