import io.github.odradekkafka.*;
import java.time.Duration;
import org.apache.kafka.clients.producer.*;
import org.junit.jupiter.api.*;

/** A leader crashes before its follower has an order, which is then sent again. */
@OdradekTest(topics = "orders:1:2")
class BrokerDownTest {
    @Test
    void orderSurvivesTheCrashOfItsLeader(Odradek kafka) throws Exception {
        kafka.moveLeader("orders", 0, 1);
        kafka.lag("orders", 0, 2);
        var settings = kafka.clientConfig("acks", "all");
        try (var producer = new KafkaProducer<String, String>(settings)) {
            var sent = producer.send(new ProducerRecord<>("orders", "order-1"));
            while (kafka.records("orders").isEmpty()) {}
            kafka.stopNode(1, with -> with.graceful(false));
            kafka.clock().advance(Duration.ofSeconds(9)); // the node's session
            sent.get();
        }
        Assertions.assertEquals(1, kafka.records("orders").size());
    }
}
