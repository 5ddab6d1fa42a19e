import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.odradekkafka.Odradek;
import io.github.odradekkafka.OdradekTest;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

@OdradekTest(topics = "orders:4")
class OrdersTest {
    @Test
    void orderReachesTheShop(
            KafkaProducer<String, String> producer,
            KafkaConsumer<String, String> consumer) throws Exception {
        producer.send(new ProducerRecord<>("orders", "alice", "one apple")).get();
        consumer.subscribe(List.of("orders"));
        var records = consumer.poll(Duration.ofSeconds(30));
        assertEquals("one apple", records.iterator().next().value());
    }

    @Test
    void orderIsStoredOnceAlthoughItsAcknowledgementIsLost(
            Odradek kafka,
            KafkaProducer<String, String> producer) throws Exception {
        long before = kafka.records("orders").size();
        var fault = kafka.lostAcks("orders");
        producer.send(new ProducerRecord<>("orders", "bob", "two pears")).get();
        assertEquals(1, kafka.waitForFault(fault.fault()).hits());
        assertEquals(before + 1, kafka.records("orders").size());
    }
}
