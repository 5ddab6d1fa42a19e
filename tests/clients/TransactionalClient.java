import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/** The scenario of transactional.py. Arguments: bootstrap servers, number of records. Prints the numbers of values and the group's offset. */
public class TransactionalClient {
    static final String SOURCE = "java-source", TARGET = "java-target", GROUP = "java-group", LAST = "last";
    static String bootstrapServers;

    public static void main(String[] arguments) throws Exception {
        Configurator.setRootLevel(Level.OFF);
        bootstrapServers = arguments[0];
        int records = Integer.parseInt(arguments[1]);
        fill(records);
        transform(records);
        List<String> committed = read(TARGET, "java-committed", "read_committed"), all = read(TARGET, "java-all", "read_uncommitted");
        for (int n = 0; n < committed.size(); n++) {
            if (!committed.get(n).equals("value " + n)) throw new AssertionError(n + ": " + committed.get(n));
        }
        try (var admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
            long offset = admin.listConsumerGroupOffsets(GROUP).partitionsToOffsetAndMetadata().get().get(new TopicPartition(SOURCE, 0)).offset();
            int epoch = admin.describeTransactions(Set.of("java-transform")).description("java-transform").get().producerEpoch();
            System.out.printf("committed %d uncommitted %d offset %d epoch per transaction %b%n", committed.size(), all.size(), offset, epoch > records);
        }
    }

    static void fill(int records) {
        try (var producer = producer("java-fill")) {
            producer.beginTransaction();
            for (int n = 0; n < records; n++) producer.send(new ProducerRecord<>(SOURCE, 0, null, "value " + n));
            producer.send(new ProducerRecord<>(SOURCE, 0, null, LAST));
            producer.commitTransaction();
        }
    }

    static void transform(int records) {
        var producer = producer("java-transform");
        try (var consumer = consumer(GROUP, "read_committed")) {
            consumer.subscribe(List.of(SOURCE));
            List<String> values = drain(consumer);
            int number = 0;
            boolean hung = false;
            for (int offset = 0; offset < values.size(); offset++) {
                while (true) {
                    producer.beginTransaction();
                    producer.send(new ProducerRecord<>(TARGET, 0, null, values.get(offset)));
                    var offsets = Map.of(new TopicPartition(SOURCE, 0), new OffsetAndMetadata(offset + 1));
                    producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                    producer.flush();
                    if (offset == values.size() / 2 && !hung) {
                        hung = true;
                        var successor = producer("java-transform");
                        assertFenced(producer);
                        producer = successor;
                    } else if (number++ % 3 == 2) {
                        producer.abortTransaction();
                    } else {
                        producer.commitTransaction();
                        break;
                    }
                }
            }
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(TARGET, 0, null, LAST));
            producer.commitTransaction();
        } finally {
            producer.close(Duration.ZERO);
        }
    }

    static void assertFenced(KafkaProducer<String, String> producer) {
        try {
            producer.commitTransaction();
        } catch (ProducerFencedException | InvalidProducerEpochException expected) {
            producer.close(Duration.ZERO);
            return;
        }
        throw new AssertionError("the first producer was not fenced");
    }

    static List<String> read(String topic, String group, String level) {
        try (var consumer = consumer(group, level)) {
            consumer.subscribe(List.of(topic));
            return drain(consumer);
        }
    }

    static List<String> drain(KafkaConsumer<String, String> consumer) {
        List<String> values = new ArrayList<>();
        for (long end = System.nanoTime() + 120_000_000_000L; System.nanoTime() < end; ) {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                if (record.value().equals(LAST)) return values;
                values.add(record.value());
            }
        }
        throw new AssertionError("the end did not come after " + values.size() + " values");
    }

    static KafkaProducer<String, String> producer(String transactionalId) {
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrapServers, "transactional.id", transactionalId);
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    static KafkaConsumer<String, String> consumer(String group, String level) {
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrapServers, "group.id", group, "isolation.level", level,
            "auto.offset.reset", "earliest", "enable.auto.commit", false);
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }
}
