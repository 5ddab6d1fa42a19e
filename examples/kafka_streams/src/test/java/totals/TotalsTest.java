package totals;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.odradekkafka.Odradek;
import io.github.odradekkafka.OdradekTest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@OdradekTest(topics = {"orders:2", "totals:1"})
class TotalsTest {
    static KafkaStreams start(Odradek kafka, Path folder, String name) {
        var settings = new Properties();
        settings.putAll(Map.of(
            "bootstrap.servers", kafka.getBootstrapServers(),
            "application.id", "totals",
            "client.id", name,
            "state.dir", folder.resolve(name).toString(),
            "commit.interval.ms", 100,
            "statestore.cache.max.bytes", 0,
            "default.key.serde", Serdes.StringSerde.class,
            "default.value.serde", Serdes.StringSerde.class));
        var streams = new KafkaStreams(Totals.topology(), settings);
        streams.start();
        return streams;
    }

    static void order(Odradek kafka, String customer, int partition) {
        var order = new Odradek.NewRecord().key(customer).value("apple");
        kafka.produce("orders", List.of(order.partition(partition)));
    }

    static void waitForMembers(Odradek kafka, int members) {
        kafka.waitForGroup(
            "totals", with -> with.members(members).state("Stable").timeoutS(30));
    }

    static Map<String, String> totals(Odradek kafka, int records) {
        var totals = new HashMap<String, String>();
        kafka.waitForRecords("totals", records, with -> with.timeoutS(30)).forEach(
            each -> totals.put(each.key().text(), each.value().text()));
        return totals;
    }

    @Test
    void secondInstanceContinuesTheTotals(Odradek kafka, @TempDir Path folder) {
        var first = start(kafka, folder, "first");
        var second = start(kafka, folder, "second");
        try (second) {
            waitForMembers(kafka, 2);
            order(kafka, "alice", 0);
            order(kafka, "bob", 1);
            assertEquals(Map.of("alice", "1", "bob", "1"), totals(kafka, 2));

            first.close(); // stays in the group until its session has expired
            kafka.clock().advance(Duration.ofSeconds(46));
            waitForMembers(kafka, 1);
            order(kafka, "alice", 0);
            order(kafka, "bob", 1);
            assertEquals(Map.of("alice", "2", "bob", "2"), totals(kafka, 4));
        }
    }
}
