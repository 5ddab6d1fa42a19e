package io.github.odradekkafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ControlsTest {
    @RegisterExtension
    static Odradek kafka = Odradek.cluster().nodes(2).topic("orders", 4, 2).set("num.partitions", "5").shared();

    @Test
    void clusterHasTheNodesAndTopicsOfItsOptions() {
        assertEquals(2, kafka.getBootstrapServers().split(",").length);
        assertEquals(2, kafka.nodes().size());
        var partitions = kafka.topics().get(0).partitions();
        assertEquals(4, partitions.size());
        assertEquals(2, partitions.get(0).replicas().size());
        var created = kafka.createTopic("more", with -> with.configs(Map.of("retention.ms", 1000)));
        assertEquals(5, created.partitions().size());
        assertEquals(Map.of("retention.ms", "1000"), created.configs());
    }

    @Test
    void recordsKeepTextBytesNullAndHeaders() {
        byte[] binary = {(byte) 0xff, 0};
        kafka.produce("orders", List.of(
                new Odradek.NewRecord().key("k").value("é \"\n\u0001😀").partition(0).headers(Map.of("trace_id", binary)),
                new Odradek.NewRecord().key(binary).partition(0)));
        var records = kafka.waitForRecords("orders", 2);
        assertEquals("é \"\n\u0001😀", records.get(0).value().text());
        assertEquals(List.of(new Header("trace_id", Bytes.of(binary))), records.get(0).headers());
        assertNull(records.get(1).value());
        assertArrayEquals(binary, records.get(1).key().toArray());
        assertEquals(1, kafka.records("orders", with -> with.partition(0).offset(1)).size());
    }

    @Test
    void clockFaultsNodesAndSnapshotsAreControlled() {
        Instant before = kafka.clock().freeze().now();
        assertEquals(Duration.ofMinutes(90), Duration.between(before, kafka.clock().advance(Duration.ofMinutes(90)).now()));
        var fault = kafka.fault(with -> with.api("Produce", "Fetch").delayMs(5).times(2));
        assertEquals(List.of(fault), kafka.listFaults());
        var snapshot = kafka.snapshot();
        kafka.produce("orders", "one");
        kafka.stopNode(2, with -> with.graceful(false));
        assertEquals("stopped", kafka.nodes().get(1).state());
        kafka.startNode(2);
        kafka.restore(snapshot.id());
        assertEquals(List.of(), kafka.records("orders"));
    }

    @Test
    void refusedControlThrowsItsReason() {
        var error = assertThrows(ControlException.class, () -> kafka.stopNode(9));
        assertEquals("400 node", error.status() + " " + error.parameter());
        var late = assertThrows(ControlException.class, () -> kafka.waitForRecords("orders", 1, with -> with.timeoutS(0.01)));
        assertEquals(504, late.status());
    }

    @Test
    void jsonThatIsIncompleteIsRefused() {
        assertEquals(Map.of("a", List.of(1L, -2.5, "\n\u00e9")), Json.read(" {\"a\" : [1, -2.5, \"\\n\\u00e9\"] } "));
        for (String text : List.of("", "{", "[1,", "\"a", "{\"a\"}", "1 2", "nul")) {
            assertThrows(IllegalArgumentException.class, () -> Json.read(text), text);
        }
    }
}
