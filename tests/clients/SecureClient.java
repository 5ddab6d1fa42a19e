import java.io.FileInputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes records to the topic t with the settings of each file, reads them, and prints for each file what it has read or the exception.
 *
 * The files contain settings of clients, and as "records" and "pause.ms" their number (default: 1) and the pause after each. With
 * transactional.id, the records of a file are one transaction.
 */
public class SecureClient {
    static final int PATIENCE_S = 50;
    static final int THREADS = 12;

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<String>> results = new ArrayList<>();
        for (String file : arguments) {
            results.add(threads.submit(() -> result(file)));
        }
        for (Future<String> result : results) {
            answers.println(result.get());
        }
        threads.shutdown();
    }

    static String result(String file) {
        String key = UUID.randomUUID().toString();
        try {
            Properties settings = new Properties();
            settings.load(new FileInputStream(file));
            settings.put("max.block.ms", PATIENCE_S * 1000);
            int records = Integer.parseInt(settings.getProperty("records", "1"));
            long pauseMs = Long.parseLong(settings.getProperty("pause.ms", "0"));
            write(settings, key, records, pauseMs);
            settings.remove("transactional.id");
            settings.put("group.id", key);
            settings.put("auto.offset.reset", "earliest");
            settings.put("isolation.level", "read_committed");
            return "read " + read(settings, key, records);
        } catch (Exception error) {
            return error + (error.getCause() == null ? "" : ", " + error.getCause());
        }
    }

    static void write(Properties settings, String key, int records, long pauseMs) throws Exception {
        boolean transactional = settings.containsKey("transactional.id");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            if (transactional) {
                producer.initTransactions();
                producer.beginTransaction();
            }
            for (int number = 0; number < records; number++) {
                producer.send(new ProducerRecord<>("t", 0, key, "value-" + number)).get(PATIENCE_S, TimeUnit.SECONDS);
                Thread.sleep(pauseMs);
            }
            if (transactional) {
                producer.commitTransaction();
            }
        }
    }

    static int read(Properties settings, String key, int records) {
        int read = 0;
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of("t"));
            for (long end = System.nanoTime() + PATIENCE_S * 1_000_000_000L; read < records && System.nanoTime() < end; ) {
                for (var record : consumer.poll(Duration.ofSeconds(1)).records("t")) {
                    read += key.equals(record.key()) ? 1 : 0;
                }
            }
        }
        return read;
    }
}
