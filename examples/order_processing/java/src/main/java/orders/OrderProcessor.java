package orders;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes an invoice for each order, in a thread of its own. An order is committed when its invoice is acknowledged. */
public class OrderProcessor implements AutoCloseable {
    private final KafkaConsumer<String, String> consumer;
    private final KafkaProducer<String, String> producer;
    private final Thread thread = new Thread(this::run, "order-processor");

    public OrderProcessor(String bootstrapServers) {
        consumer = new KafkaConsumer<>(Map.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers,
            ConsumerConfig.GROUP_ID_CONFIG, "invoicing",
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false
        ), new StringDeserializer(), new StringDeserializer());
        producer = new KafkaProducer<>(Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers,
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true
        ), new StringSerializer(), new StringSerializer());
        consumer.subscribe(List.of("orders"));
        thread.start();
    }

    private void run() {
        try (consumer; producer) {
            while (true) {
                for (ConsumerRecord<String, String> order : consumer.poll(Duration.ofSeconds(1))) {
                    producer.send(new ProducerRecord<>("invoices", order.key(), "invoice for " + order.value())).get();
                }
                commit();
            }
        } catch (WakeupException closed) {
            // close() ends the loop
        } catch (ExecutionException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private void commit() {
        try {
            consumer.commitSync();
        } catch (CommitFailedException left) {
            // the session has expired; the consumer joins its group again, and the orders since the last commit are read again
        }
    }

    @Override
    public void close() throws InterruptedException {
        consumer.wakeup();
        thread.join();
    }
}
