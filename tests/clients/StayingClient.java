import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * Clients that stay connected while the state of their cluster is restored; executes the calls of test_staying_clients.py.
 *
 * <p>Consumers read in threads of their own. A transaction that fails is aborted and repeated, as the documentation of KafkaProducer says.
 */
public class StayingClient {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Duration POLL = Duration.ofMillis(50);
    static final int ATTEMPTS = 5;
    final Map<String, LinkedBlockingQueue<String>> read = new HashMap<>();
    final Map<String, KafkaProducer<String, String>> producers = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Configurator.setRootLevel(Level.OFF);
        StayingClient client = new StayingClient();
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = JSON.readTree(line);
            try {
                Object result = client.call(request.get("call").asText(), request.get("with"));
                answers.println(JSON.createObjectNode().set("result", JSON.valueToTree(result)));
            } catch (Exception error) {
                answers.println(JSON.createObjectNode().put("error", error.toString()));
            }
            answers.flush();
        }
        System.exit(0);
    }

    Object call(String name, JsonNode with) throws Exception {
        String which = with.get(0).asText();
        switch (name) {
            case "consumer": {
                Map<String, Object> settings = settings(with.get(1));
                var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
                consumer.subscribe(List.of(with.get(2).asText()));
                start(which, queue -> {
                    for (var record : consumer.poll(POLL)) queue.add(record.value());
                });
                return null;
            }
            case "share": {
                var consumer = new KafkaShareConsumer<>(settings(with.get(1)), new StringDeserializer(), new StringDeserializer());
                consumer.subscribe(List.of(with.get(2).asText()));
                start(which, queue -> {
                    for (var record : consumer.poll(POLL)) queue.add(record.value());
                });
                return null;
            }
            case "producer":
                producers.put(which, new KafkaProducer<>(settings(with.get(1)), new StringSerializer(), new StringSerializer()));
                if (with.get(1).has("transactional.id")) producers.get(which).initTransactions();
                return null;
            case "send":
                return producers.get(which).send(new ProducerRecord<>(with.get(1).asText(), with.get(2).asText())).get().offset();
            case "transaction":
                return transaction(producers.get(which), with.get(1).asText(), with.get(2).asText());
            case "next":
                return read.get(which).poll(with.get(1).asLong(), TimeUnit.MILLISECONDS);
            default:
                throw new IllegalArgumentException(name);
        }
    }

    /** Returns the number of attempts that were needed. */
    static int transaction(KafkaProducer<String, String> producer, String topic, String value) {
        for (int attempt = 1; ; attempt++) {
            producer.beginTransaction();
            try {
                producer.send(new ProducerRecord<>(topic, value));
                producer.commitTransaction();
                return attempt;
            } catch (KafkaException error) {
                System.err.println("attempt " + attempt + ": " + error);
                producer.abortTransaction();
                if (attempt == ATTEMPTS) throw error;
            }
        }
    }

    interface Step {
        void run(LinkedBlockingQueue<String> queue);
    }

    void start(String which, Step step) {
        LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
        read.put(which, queue);
        Thread thread = new Thread(() -> {
            try {
                while (true) step.run(queue);
            } catch (Exception error) {
                queue.add("ended by " + error);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> settings(JsonNode node) {
        return JSON.convertValue(node, Map.class);
    }
}
