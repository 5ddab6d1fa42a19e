package parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.odradekkafka.Odradek;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Changes a cluster in every way that another class would notice, after it has seen that no other class has done so. */
final class Isolation {
    private static final Set<String> IN_USE = ConcurrentHashMap.newKeySet();
    private static final AtomicInteger MOST = new AtomicInteger();

    private Isolation() {}

    static void check(Odradek kafka, KafkaProducer<String, String> producer, KafkaConsumer<String, String> consumer, String name) throws Exception {
        assertTrue(IN_USE.add(kafka.getBootstrapServers()), "two tests have one cluster at the same time");
        int count = IN_USE.size();
        if (count > MOST.getAndAccumulate(count, Math::max)) {
            System.out.println("figure: clusters in use at the same time: " + count);
        }
        try {
            assertEquals(List.of("orders"), topics(kafka));
            assertEquals(List.of(), kafka.records("orders"));
            assertEquals(List.of(), kafka.listFaults());
            assertEquals(1.0, kafka.clock().state().speed());
            kafka.createTopic(name);
            kafka.fault(with -> with.api("Fetch").delayMs(1));
            producer.send(new ProducerRecord<>("orders", name)).get();
            consumer.assign(List.of(new TopicPartition("orders", 0)));
            var read = consumer.poll(Duration.ofSeconds(30));
            assertEquals(List.of(name), StreamSupport.stream(read.spliterator(), false).map(record -> record.value()).toList());
            assertEquals(List.of(name, "orders"), topics(kafka));
            assertEquals(1, kafka.listFaults().size());
            kafka.clock().freeze();
        } finally {
            IN_USE.remove(kafka.getBootstrapServers());
        }
    }

    private static List<String> topics(Odradek kafka) {
        return kafka.topics().stream().map(Odradek.TopicInfo::name).filter(name -> !name.startsWith("__")).sorted().toList();
    }
}
