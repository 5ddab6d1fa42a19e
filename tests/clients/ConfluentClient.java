import io.confluent.kafka.schemaregistry.avro.AvroSchema;
import io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import io.confluent.kafka.serializers.KafkaAvroDeserializer;
import io.confluent.kafka.serializers.KafkaAvroSerializer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes and reads records in Avro with Confluent's serializers, and asks its client about compatibility. The arguments are the bootstrap
 * servers and the URL of the registry.
 */
public class ConfluentClient {
    private static final String TOPIC = "orders";

    /** Prints a line that is no log entry. */
    private static void show(Object result) {
        System.out.println("> " + result);
    }

    private static Schema order(String type, String... names) {
        StringBuilder fields = new StringBuilder("{\"name\": \"id\", \"type\": \"" + type + "\"}");
        for (String name : names) {
            fields.append(", {\"name\": \"" + name + "\", \"type\": [\"null\", \"string\"], \"default\": null}");
        }
        return new Schema.Parser().parse("{\"type\": \"record\", \"name\": \"Order\", \"fields\": [" + fields + "]}");
    }

    private static void produce(Map<String, Object> settings, Schema schema, Object id) throws Exception {
        GenericRecord order = new GenericData.Record(schema);
        order.put("id", id);
        try (KafkaProducer<String, Object> producer = new KafkaProducer<>(settings)) {
            producer.send(new ProducerRecord<>(TOPIC, order)).get();
        }
    }

    public static void main(String[] arguments) throws Exception {
        String servers = arguments[0];
        String url = arguments[1];
        Map<String, Object> producing =
                Map.of("bootstrap.servers", servers, "schema.registry.url", url, "key.serializer", StringSerializer.class,
                        "value.serializer", KafkaAvroSerializer.class);
        produce(producing, order("long"), 7L);
        produce(producing, order("long", "note"), 8L);
        try {
            produce(producing, order("string"), "9");
        } catch (ExecutionException refused) {
            String message = refused.getCause().getMessage();
            show("refused with " + message.substring(message.lastIndexOf("error code")));
        }

        Map<String, Object> consuming =
                Map.of("bootstrap.servers", servers, "schema.registry.url", url, "group.id", "readers", "auto.offset.reset", "earliest",
                        "key.deserializer", StringDeserializer.class, "value.deserializer", KafkaAvroDeserializer.class);
        try (KafkaConsumer<String, Object> consumer = new KafkaConsumer<>(consuming)) {
            consumer.subscribe(List.of(TOPIC));
            for (int read = 0; read < 2; ) {
                for (var each : consumer.poll(Duration.ofSeconds(1))) {
                    show(each.value());
                    read++;
                }
            }
        }

        try (CachedSchemaRegistryClient client = new CachedSchemaRegistryClient(url, 10)) {
            String subject = TOPIC + "-value";
            AvroSchema incompatible = new AvroSchema(order("string"));
            show("versions " + client.getAllVersions(subject) + ", id " + client.getLatestSchemaMetadata(subject).getId());
            show("first message: " + client.testCompatibilityVerbose(subject, incompatible).get(0).substring(0, 25));
            show("level " + client.updateCompatibility(subject, "NONE") + ", id " + client.register(subject, incompatible));
        }
    }
}
