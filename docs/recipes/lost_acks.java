import io.github.odradekkafka.*;
import org.apache.kafka.clients.producer.*;
import org.junit.jupiter.api.*;

/**
 * A record is stored, but its acknowledgement is lost: an idempotent producer sends
 * it again without storing it twice.
 */
@OdradekTest(topics = "orders:1")
class LostAcksTest {
    @Test
    void orderWithLostAcknowledgementIsStoredOnce(Odradek kafka) throws Exception {
        kafka.lostAcks("orders");
        var settings = kafka.clientConfig("enable.idempotence", true);
        try (var producer = new KafkaProducer<String, String>(settings)) {
            producer.send(new ProducerRecord<>("orders", "order-1")).get();
        }
        Assertions.assertEquals(1, kafka.listFaults().get(0).hits());
        Assertions.assertEquals(1, kafka.records("orders").size());
    }
}
