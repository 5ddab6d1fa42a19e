import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.MemberAssignment;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/** The calls of administration.py; prints a line for each result. Argument: the bootstrap servers. */
public class AdminGroups {
    static final TopicPartition FIRST = new TopicPartition("groups-one", 0), SECOND = new TopicPartition("groups-two", 1);

    static final PrintStream ANSWERS = System.out;

    interface Call {
        Object answer() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err);
        Configurator.setRootLevel(Level.ERROR);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", arguments[0]))) {
            lists(admin);
            for (String group : List.of("live", "modern", "offsets", "missing")) {
                tell("describe " + group, () -> described(admin, group));
                tell("offsets " + group, () -> new TreeMap<>(texts(offsets(admin, group))));
            }
            for (String group : List.of("live", "modern", "offsets", "new")) {
                var moved = Map.of(FIRST, new OffsetAndMetadata(9, "moved"));
                tell("alter " + group, () -> admin.alterConsumerGroupOffsets(group, moved).all().get());
                tell("offsets " + group, () -> new TreeMap<>(texts(offsets(admin, group))));
                var deleted = admin.deleteConsumerGroupOffsets(group, Set.of(FIRST, SECOND));
                tell("delete offset of one of " + group, () -> deleted.partitionResult(FIRST).get());
                tell("delete offset of two of " + group, () -> deleted.partitionResult(SECOND).get());
            }
            var unknown = new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("unknown")));
            tell("remove unknown", () -> admin.removeMembersFromConsumerGroup("live", unknown).memberResult(new MemberToRemove("unknown")).get());
            tell("delete live", () -> admin.deleteConsumerGroups(List.of("live")).all().get());
            var known = new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("i")));
            tell("remove", () -> admin.removeMembersFromConsumerGroup("live", known).all().get());
            tell("remove all", () -> admin.removeMembersFromConsumerGroup("modern", new RemoveMembersFromConsumerGroupOptions()).all().get());
            var gone = admin.deleteConsumerGroups(List.of("live", "modern", "offsets", "missing")).deletedGroups();
            for (var group : new TreeMap<String, KafkaFuture<Void>>(gone).entrySet()) tell("delete " + group.getKey(), () -> group.getValue().get());
            lists(admin);
        }
    }

    static void lists(Admin admin) {
        tell("list", () -> listed(admin, new ListGroupsOptions()));
        tell("list stable", () -> listed(admin, new ListGroupsOptions().inGroupStates(Set.of(GroupState.STABLE))));
        tell("list empty", () -> listed(admin, new ListGroupsOptions().inGroupStates(Set.of(GroupState.EMPTY))));
        tell("list classic", () -> listed(admin, new ListGroupsOptions().withTypes(Set.of(GroupType.CLASSIC))));
        tell("list consumer", () -> listed(admin, ListGroupsOptions.forConsumerGroups()));
    }

    static Object listed(Admin admin, ListGroupsOptions options) throws Exception {
        return admin.listGroups(options).all().get().stream().map(Object::toString).sorted().toList();
    }

    static Object described(Admin admin, String name) throws Exception {
        ConsumerGroupDescription group = admin.describeConsumerGroups(List.of(name)).describedGroups().get(name).get();
        List<String> told = new ArrayList<>(List.of(group.groupState() + " " + group.type() + " simple " + group.isSimpleConsumerGroup()));
        told.add("by " + group.partitionAssignor() + " epochs " + group.groupEpoch() + " " + group.targetAssignmentEpoch());
        told.add("coordinator " + group.coordinator().id());
        for (var member : group.members()) {
            told.add(member.groupInstanceId() + " " + member.clientId() + " " + member.host() + " " + sorted(member.assignment()));
            told.add("epoch " + member.memberEpoch() + " upgraded " + member.upgraded() + " target " + member.targetAssignment().map(AdminGroups::sorted));
        }
        return told;
    }

    static List<String> sorted(MemberAssignment assignment) {
        return assignment.topicPartitions().stream().map(TopicPartition::toString).sorted().toList();
    }

    static Map<TopicPartition, OffsetAndMetadata> offsets(Admin admin, String group) throws Exception {
        return admin.listConsumerGroupOffsets(Map.of(group, new ListConsumerGroupOffsetsSpec())).partitionsToOffsetAndMetadata(group).get();
    }

    static Map<String, String> texts(Map<TopicPartition, OffsetAndMetadata> offsets) {
        Map<String, String> texts = new TreeMap<>();
        offsets.forEach((partition, offset) -> texts.put(partition.toString(), String.valueOf(offset)));
        return texts;
    }

    static void tell(String name, Call call) {
        Object answer;
        try {
            answer = call.answer();
        } catch (ExecutionException error) {
            answer = error.getCause().getClass().getSimpleName();
        } catch (Exception error) {
            answer = error.getClass().getSimpleName();
        }
        ANSWERS.println(name + ": " + answer);
    }
}
