import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/** A client with quotas. Arguments: bootstrap servers, topic, number of records. Prints the throttle times that its metrics show. */
public class ThrottledClient {
    public static void main(String[] arguments) throws Exception {
        Configurator.setRootLevel(Level.OFF);
        int records = Integer.parseInt(arguments[2]);
        Map<String, Object> config = Map.of("bootstrap.servers", arguments[0], "client.id", "limited");
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int n = 0; n < records; n++) producer.send(new ProducerRecord<>(arguments[1], 0, null, new byte[1000])).get();
            System.out.printf("produce %.0f%n", value(producer.metrics(), "produce-throttle-time-max"));
        }
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            var partition = new TopicPartition(arguments[1], 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            int read = 0;
            while (read < records) read += consumer.poll(Duration.ofMillis(100)).count();
            System.out.printf("fetch %.0f%n", value(consumer.metrics(), "fetch-throttle-time-avg"));
        }
    }

    static double value(Map<MetricName, ? extends Metric> metrics, String name) {
        return metrics.entrySet().stream().filter(each -> each.getKey().name().equals(name)).mapToDouble(each -> (Double) each.getValue().metricValue()).max().orElse(-1);
    }
}
