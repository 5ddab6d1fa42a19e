import java.io.FileInputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes records to the topic t with the settings of a file, reads them, and prints what it has read or the exception. */
public class SecureClient {
    static final int PATIENCE_S = 50;

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Properties settings = new Properties();
        settings.load(new FileInputStream(arguments[0]));
        settings.put("group.id", "secure-client");
        settings.put("auto.offset.reset", "earliest");
        settings.put("max.block.ms", PATIENCE_S * 1000);
        int records = Integer.parseInt(arguments[1]);
        long pauseMs = Long.parseLong(arguments[2]);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
                KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            for (int number = 0; number < records; number++) {
                producer.send(new ProducerRecord<>("t", 0, "java", "value-" + number)).get(PATIENCE_S, TimeUnit.SECONDS);
                Thread.sleep(pauseMs);
            }
            consumer.subscribe(List.of("t"));
            int read = 0;
            for (long end = System.nanoTime() + PATIENCE_S * 1_000_000_000L; read < records && System.nanoTime() < end; ) {
                ConsumerRecords<String, String> polled = consumer.poll(Duration.ofSeconds(1));
                for (var record : polled.records("t")) {
                    read += "java".equals(record.key()) ? 1 : 0;
                }
            }
            answers.println("read " + read);
        } catch (Exception error) {
            answers.println(error + (error.getCause() == null ? "" : ", " + error.getCause()));
        }
    }
}
