import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/** Members of one group, each in a separate thread; executes the calls of member_processes.py. */
public class GroupClient {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Duration POLL = Duration.ofMillis(50);
    final Queue<Member> members = new ArrayDeque<>();
    final Queue<Integer> seen = new ConcurrentLinkedQueue<>();

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Configurator.setRootLevel(Level.ERROR);
        GroupClient client = new GroupClient();
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = JSON.readTree(line);
            Object result = client.call(request.get("call").asText(), request.get("with"));
            answers.println(JSON.createObjectNode().set("result", JSON.valueToTree(result)));
            answers.flush();
        }
        System.exit(0);
    }

    Object call(String name, JsonNode with) throws Exception {
        switch (name) {
            case "join":
                members.add(new Member(with.get(0).asText(), JSON.convertValue(with.get(1), Map.class)));
                return null;
            case "leave":
                members.remove().leave();
                return null;
            case "assignments":
                return members.stream().map(member -> member.assigned).toList();
            case "drain":
                List<Integer> drained = new ArrayList<>();
                for (Integer value = seen.poll(); value != null; value = seen.poll()) drained.add(value);
                return drained;
            default:
                throw new IllegalArgumentException(name);
        }
    }

    class Member {
        final KafkaConsumer<String, String> consumer;
        final Thread thread;
        volatile List<Integer> assigned = List.of();
        volatile boolean leaves;

        Member(String topic, Map<String, Object> settings) {
            consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
            consumer.subscribe(List.of(topic));
            thread = new Thread(this::read);
            thread.setDaemon(true);
            thread.start();
        }

        void read() {
            while (!leaves) {
                for (var record : consumer.poll(POLL)) seen.add(Integer.valueOf(record.value()));
                assigned = consumer.assignment().stream().map(partition -> partition.partition()).sorted().toList();
            }
            consumer.close();
        }

        void leave() throws InterruptedException {
            leaves = true;
            thread.join();
        }
    }
}
