import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * Members of one share group, each in a thread of its own, until standard input ends.
 *
 * <p>Prints a line for each record that was delivered: partition, offset, value, how often its acceptance and its rejection were confirmed,
 * how many acceptances were renewed before, the largest delivery count, and how often it was delivered after a confirmed decision.
 */
public class ShareClient {
    static final int ACCEPTED = 0, REJECTED = 1, RENEWED = 2, DELIVERIES = 3, TOO_LATE = 4;
    static final Map<String, AtomicIntegerArray> SEEN = new ConcurrentHashMap<>();
    static final Map<String, String> VALUES = new ConcurrentHashMap<>();
    static volatile boolean running = true;

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Configurator.setRootLevel(Level.ERROR);
        List<Thread> members = new ArrayList<>();
        for (int number = 0; number < Integer.parseInt(arguments[4]); number++) {
            Member member = new Member(arguments[0], arguments[1], arguments[2], arguments[3]);
            members.add(new Thread(member::run));
        }
        for (Thread member : members) member.start();
        answers.println("running");
        new BufferedReader(new InputStreamReader(System.in)).lines().forEach(line -> {});
        running = false;
        for (Thread member : members) member.join();
        for (Map.Entry<String, AtomicIntegerArray> record : new TreeMap<>(SEEN).entrySet()) {
            StringBuilder line = new StringBuilder(record.getKey()).append(' ').append(VALUES.get(record.getKey()));
            for (int field = 0; field < 5; field++) line.append(' ').append(record.getValue().get(field));
            answers.println(line);
        }
        answers.println("end");
        System.exit(0);
    }

    static class Member {
        final KafkaShareConsumer<String, String> consumer;
        final boolean explicit;
        /** The decisions that are not confirmed yet, by record. */
        final Map<String, AcknowledgeType> decided = new HashMap<>();
        final Set<String> renewed = new HashSet<>();

        Member(String servers, String topic, String group, String mode) {
            explicit = mode.equals("explicit");
            consumer = new KafkaShareConsumer<>(
                    Map.of("bootstrap.servers", servers, "group.id", group, "share.acknowledgement.mode", mode, "max.poll.records", "20"),
                    new StringDeserializer(),
                    new StringDeserializer());
            consumer.setAcknowledgementCommitCallback(this::confirmed);
            consumer.subscribe(List.of(topic));
        }

        void run() {
            while (running) {
                try {
                    for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) received(record);
                    if (explicit) consumer.commitSync();
                } catch (Exception error) {
                    System.err.println(error);
                }
            }
            consumer.close();
        }

        void received(ConsumerRecord<String, String> record) {
            String key = record.partition() + " " + record.offset();
            VALUES.put(key, record.value());
            AtomicIntegerArray seen = SEEN.computeIfAbsent(key, name -> new AtomicIntegerArray(5));
            boolean again = renewed.contains(key);
            if (!again && seen.get(ACCEPTED) + seen.get(REJECTED) > 0) seen.incrementAndGet(TOO_LATE);
            int deliveries = record.deliveryCount().get();
            seen.accumulateAndGet(DELIVERIES, deliveries, Math::max);
            AcknowledgeType type = explicit ? decision(Integer.parseInt(record.value()), deliveries, key) : AcknowledgeType.ACCEPT;
            if (explicit) consumer.acknowledge(record, type);
            if (type == AcknowledgeType.RENEW) renewed.add(key);
            decided.put(key, type);
        }

        /** Rejects every 10th record, releases every 7th once, and renews every 4th once. */
        AcknowledgeType decision(int value, int deliveries, String key) {
            if (value % 10 == 0) return AcknowledgeType.REJECT;
            if (value % 7 == 0 && deliveries == 1) return AcknowledgeType.RELEASE;
            if (value % 4 == 0 && !renewed.contains(key)) return AcknowledgeType.RENEW;
            return AcknowledgeType.ACCEPT;
        }

        void confirmed(Map<TopicIdPartition, Set<Long>> offsets, Exception error) {
            if (error != null) return;
            offsets.forEach((partition, confirmed) -> {
                for (long offset : confirmed) {
                    String key = partition.partition() + " " + offset;
                    AcknowledgeType type = decided.get(key);
                    int field = type == AcknowledgeType.ACCEPT ? ACCEPTED : type == AcknowledgeType.REJECT ? REJECTED : RENEWED;
                    if (type != AcknowledgeType.RELEASE) SEEN.get(key).incrementAndGet(field);
                }
            });
        }
    }
}
