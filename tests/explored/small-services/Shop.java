import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** A shop sends an order, and counts how often it is stored. Its producer is idempotent. */
class Shop {
    public static void main(String[] arguments) throws Exception {
        Map<String, Object> settings =
            Map.of("bootstrap.servers", System.getenv("BOOTSTRAP_SERVERS"), "enable.idempotence", true);
        var serializer = new StringSerializer();
        try (var producer = new KafkaProducer<String, String>(settings, serializer, serializer)) {
            producer.send(new ProducerRecord<>("orders", "order-1")).get();
        }
        var listing = new ProcessBuilder("odradek", "ctl", "record", "list", "orders").redirectErrorStream(true).start();
        String records = new String(listing.getInputStream().readAllBytes());
        int count = records.split("order-1", -1).length - 1;
        if (count != 1) {
            System.err.println("error: the order is stored " + count + " times");
            System.exit(1);
        }
    }
}
