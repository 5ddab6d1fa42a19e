import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

/**
 * A leader crashes before its follower has copied an order. The test proves that
 * the producer sends the order to the next leader again.
 */
class BrokerDownTest {
    private static KafkaProducer<String, String> shopProducer() {
        var servers = System.getenv("BOOTSTRAP_SERVERS");
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", servers, "acks", "all");
        var serializer = new StringSerializer();
        return new KafkaProducer<>(settings, serializer, serializer);
    }

    @Test
    void orderSurvivesTheCrashOfItsLeader() throws Exception {
        ctl("state reset");
        ctl("topic create orders 1 2");
        ctl("leader move orders 0 1");
        ctl("replica lag orders 0 2");
        try (var producer = shopProducer()) {
            var sent = producer.send(new ProducerRecord<>("orders", "order-1"));
            while (!ctl("record list orders").contains("order-1")) {}
            ctl("node stop 1 --no-graceful");
            ctl("clock advance 9s"); // broker.session.timeout.ms: a new leader
            sent.get();
        }
        assertTrue(ctl("record list orders").contains("order-1"));
    }

    private static String ctl(String command) throws Exception {
        var builder = new ProcessBuilder(("odradek ctl " + command).split(" "));
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        return output;
    }
}
