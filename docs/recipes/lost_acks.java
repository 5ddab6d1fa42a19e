import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

/**
 * A record is stored, but its acknowledgement is lost, so that the producer sends
 * it again. The test proves that the producer of this shop is idempotent: without
 * idempotence the record would be stored twice.
 */
class LostAcksTest {
    private static KafkaProducer<String, String> shopProducer() {
        var servers = System.getenv("BOOTSTRAP_SERVERS");
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", servers, "enable.idempotence", true);
        var serializer = new StringSerializer();
        return new KafkaProducer<>(settings, serializer, serializer);
    }

    @Test
    void orderWithLostAcknowledgementIsStoredOnce() throws Exception {
        ctl("state reset");
        ctl("topic create orders 1");
        ctl("fault preset lost-acks orders");
        try (var producer = shopProducer()) {
            producer.send(new ProducerRecord<>("orders", "order-1")).get();
        }
        assertTrue(ctl("fault list --output json").contains("\"hits\": 1"));
        assertEquals(1, ctl("record list orders").split("order-1", -1).length - 1);
    }

    private static String ctl(String command) throws Exception {
        var builder = new ProcessBuilder(("odradek ctl " + command).split(" "));
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        return output;
    }
}
