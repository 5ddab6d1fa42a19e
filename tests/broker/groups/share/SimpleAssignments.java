import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Prints the target assignments that Kafka's SimpleAssignor computes, one line for each line of standard input.
 *
 * A line is "new", or the members and the topics of a group: "member=id,id member=id;id=count id=count". Members hold the targets of the
 * line before, which Kafka copies into new hash tables when it has written them. The answer is "member=id:0,1 id:2;member=".
 */
public class SimpleAssignments {
    public static void main(String[] none) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        Map<String, Assignment> targets = new HashMap<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("new")) {
                targets = new HashMap<>();
                continue;
            }
            String[] parts = line.split(";", -1);
            Map<Uuid, Set<Integer>> partitions = new HashMap<>();
            for (String topic : parts[1].split(" ")) {
                String[] named = topic.split("=");
                Set<Integer> indexes = new HashSet<>();
                for (int index = 0; index < Integer.parseInt(named[1]); index++) {
                    indexes.add(index);
                }
                partitions.put(Uuid.fromString(named[0]), indexes);
            }
            Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
            Set<Set<Uuid>> subscriptions = new HashSet<>();
            for (String member : parts[0].split(" ")) {
                String[] named = member.split("=", 2);
                Set<Uuid> topics = new LinkedHashSet<>();
                for (String id : named[1].split(",")) {
                    topics.add(Uuid.fromString(id));
                }
                subscriptions.add(topics);
                Assignment held = targets.getOrDefault(named[0], Assignment.EMPTY);
                members.put(named[0], new MemberSubscriptionAndAssignmentImpl(Optional.empty(), Optional.empty(), topics, held));
            }
            SubscriptionType type = subscriptions.size() == 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
            GroupAssignment assigned = new SimpleAssignor().assign(
                new GroupSpecImpl(members, type, Map.of(), Optional.of(partitions)),
                new SubscribedTopicDescriber() {
                    public int numPartitions(Uuid topicId) {
                        return partitions.containsKey(topicId) ? partitions.get(topicId).size() : -1;
                    }

                    public Set<String> racksForPartition(Uuid topicId, int partition) {
                        return Set.of();
                    }
                }
            );
            Map<String, Assignment> next = new HashMap<>();
            StringBuilder shown = new StringBuilder();
            for (String member : new TreeSet<>(members.keySet())) {
                Map<Uuid, Set<Integer>> copy = new HashMap<>();
                assigned.members().get(member).partitions().forEach((id, indexes) -> copy.put(id, new HashSet<>(new TreeSet<>(indexes).stream().toList())));
                next.put(member, new Assignment(copy));
                shown.append(shown.isEmpty() ? "" : ";").append(member).append('=');
                Map<String, Set<Integer>> sorted = new TreeMap<>();
                next.get(member).partitions().forEach((id, indexes) -> sorted.put(id.toString(), new TreeSet<>(indexes)));
                Map<String, String> texts = new LinkedHashMap<>();
                sorted.forEach((id, indexes) -> texts.put(id, String.join(",", indexes.stream().map(String::valueOf).toList())));
                shown.append(String.join(" ", texts.entrySet().stream().map(each -> each.getKey() + ":" + each.getValue()).toList()));
            }
            targets = next;
            System.out.println(shown);
        }
    }
}
