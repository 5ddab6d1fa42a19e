import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/** Reads the calls of child.py from standard input and writes their results to standard output. */
public class JavaClient {
    static final ObjectMapper JSON = new ObjectMapper();
    static final int PATIENCE_S = 120;
    static final int HEARTBEAT_INTERVAL_MS = 200;
    static final int METADATA_MAX_AGE_MS = 100;
    final List<Object> objects = new ArrayList<>();

    interface Called {
        JsonNode call(String name, JsonNode with) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Configurator.setRootLevel(Level.ERROR);
        JavaClient client = new JavaClient();
        client.objects.add((Called) client::call);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(JSON.writeValueAsString(client.answer(JSON.readTree(line))));
            answers.flush();
        }
    }

    ObjectNode answer(JsonNode request) {
        try {
            Called on = (Called) objects.get(request.get("on").asInt());
            return JSON.createObjectNode().set("result", on.call(request.get("call").asText(), request.get("with")));
        } catch (Exception error) {
            return JSON.createObjectNode().put("error", error + (error.getCause() == null ? "" : ", " + error.getCause()));
        }
    }

    JsonNode call(String name, JsonNode with) throws Exception {
        String servers = with.get(0).asText();
        switch (name) {
            case "nodes":
                return nodes(servers);
            case "create_topic":
                return createTopic(servers, with.get(1).asText());
            case "producer":
                return known(new Producer(
                        servers, with.get(1).asText(), with.get(2).asText(), with.get(3).asBoolean(), with.get(4).asInt()));
            case "member":
                return known(new Member(servers, with.get(1).asText(), with.get(2).asText()));
            default:
                throw new IllegalArgumentException(name);
        }
    }

    JsonNode known(Object object) {
        objects.add(object);
        return JSON.getNodeFactory().numberNode(objects.size() - 1);
    }

    static JsonNode nodes(String servers) throws Exception {
        ObjectNode nodes = JSON.createObjectNode();
        try (AdminClient admin = AdminClient.create(Map.of("bootstrap.servers", servers))) {
            for (var node : admin.describeCluster().nodes().get(PATIENCE_S, TimeUnit.SECONDS)) {
                nodes.put(node.idString(), node.host() + ":" + node.port());
            }
        }
        return nodes;
    }

    static JsonNode createTopic(String servers, String topic) throws Exception {
        try (AdminClient admin = AdminClient.create(Map.of("bootstrap.servers", servers))) {
            admin.createTopics(List.of(new NewTopic(topic, 2, (short) 2))).all().get(PATIENCE_S, TimeUnit.SECONDS);
        }
        return null;
    }

    static class Producer implements Called {
        final String topic;
        final KafkaProducer<byte[], byte[]> producer;
        final List<Future<RecordMetadata>> sent = new ArrayList<>();

        Producer(String servers, String topic, String codec, boolean idempotent, int requestTimeoutMs) {
            this.topic = topic;
            Map<String, Object> settings = Map.of(
                    "bootstrap.servers", servers, "acks", "all", "compression.type", codec, "enable.idempotence", idempotent,
                    "metadata.max.age.ms", METADATA_MAX_AGE_MS, "request.timeout.ms", requestTimeoutMs,
                    "delivery.timeout.ms", 4 * requestTimeoutMs);
            producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        }

        public JsonNode call(String name, JsonNode with) throws Exception {
            switch (name) {
                case "send":
                    for (JsonNode record : with.get(0)) sent.add(producer.send(toRecord(record)));
                    return null;
                case "flush":
                    for (var future : sent) future.get(PATIENCE_S, TimeUnit.SECONDS);
                    sent.clear();
                    return null;
                case "close":
                    producer.close();
                    return null;
                default:
                    throw new IllegalArgumentException(name);
            }
        }

        ProducerRecord<byte[], byte[]> toRecord(JsonNode fields) throws Exception {
            List<Header> headers = new ArrayList<>();
            for (JsonNode header : fields.get(3)) headers.add(new RecordHeader(header.get(0).asText(), header.get(1).binaryValue()));
            Long timestampMs = fields.get(4).isNull() ? null : fields.get(4).asLong();
            byte[] key = fields.get(1).binaryValue();
            return new ProducerRecord<>(topic, fields.get(0).asInt(), timestampMs, key, fields.get(2).binaryValue(), headers);
        }
    }

    static class Member implements Called {
        final KafkaConsumer<byte[], byte[]> consumer;

        Member(String servers, String topic, String group) {
            Map<String, Object> settings = Map.of(
                    "bootstrap.servers", servers, "group.id", group, "auto.offset.reset", "earliest",
                    "enable.auto.commit", false, "heartbeat.interval.ms", HEARTBEAT_INTERVAL_MS, "metadata.max.age.ms", METADATA_MAX_AGE_MS);
            consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.subscribe(List.of(topic));
        }

        public JsonNode call(String name, JsonNode with) throws Exception {
            switch (name) {
                case "poll":
                    ArrayNode records = JSON.createArrayNode();
                    for (var record : consumer.poll(Duration.ofMillis((long) (with.get(0).asDouble() * 1000)))) records.add(toJson(record));
                    return records;
                case "assignment":
                    ArrayNode partitions = JSON.createArrayNode();
                    consumer.assignment().stream().mapToInt(partition -> partition.partition()).sorted().forEach(partitions::add);
                    return partitions;
                case "commit":
                    consumer.commitSync(Duration.ofSeconds(PATIENCE_S));
                    return null;
                case "close":
                    consumer.close();
                    return null;
                default:
                    throw new IllegalArgumentException(name);
            }
        }

        static JsonNode toJson(ConsumerRecord<byte[], byte[]> record) {
            ArrayNode fields = JSON.createArrayNode().add(record.partition()).add(record.key()).add(record.value());
            ArrayNode headers = fields.addArray();
            for (Header header : record.headers()) headers.addArray().add(header.key()).add(header.value());
            return fields.add(record.timestamp());
        }
    }
}
