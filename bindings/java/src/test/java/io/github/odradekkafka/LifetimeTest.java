package io.github.odradekkafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Runs the classes below as tests of their own, which no build finds, because they are not public and have a name of their own kind. */
class LifetimeTest {
    private static final List<String> SERVERS = new ArrayList<>();

    @OdradekTest(nodes = 1, topics = "orders:1", property = "test.lifetime")
    static class FailingCase {
        @Test
        void fails(Odradek kafka) {
            SERVERS.add(kafka.getBootstrapServers());
            kafka.fault(with -> with.api("Produce").error("NOT_LEADER_OR_FOLLOWER"));
            kafka.stopNode(1);
            fail("the order is missing");
        }
    }

    @OdradekTest(nodes = 1, topics = "orders:1", shared = true)
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class SharedCase {
        @Test
        void first(Odradek kafka) {
            writesTheFirstRecord(kafka);
        }

        @Test
        void second(Odradek kafka) {
            writesTheFirstRecord(kafka);
        }

        private static void writesTheFirstRecord(Odradek kafka) {
            SERVERS.add(kafka.getBootstrapServers());
            assertEquals(List.of(), kafka.records("orders"));
            kafka.produce("orders", "one");
        }
    }

    static class PerTestCase {
        @RegisterExtension
        final Odradek kafka = Odradek.cluster().nodes(1);

        @Test
        void first() {
            SERVERS.add(kafka.getBootstrapServers());
        }

        @Test
        void second() {
            SERVERS.add(kafka.getBootstrapServers());
        }
    }

    private static long failuresOf(Class<?>... classes) {
        SERVERS.clear();
        var kit = EngineTestKit.engine("junit-jupiter");
        for (Class<?> each : classes) {
            kit.selectors(selectClass(each));
        }
        return kit.execute().testEvents().failed().count();
    }

    @Test
    void reportOfFailedTestNamesTheCauseAndTheClusterStops() {
        PrintStream standard = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true));
        try {
            assertEquals(1, failuresOf(FailingCase.class));
        } finally {
            System.setErr(standard);
        }
        String report = printed.toString();
        for (String expected : List.of("fails(", "what happened on the cluster", "stopping node 1", "0 hits; no Produce request seen")) {
            assertTrue(report.contains(expected), report);
        }
        assertFalse(listens(SERVERS.get(0)));
        assertNull(System.getProperty("test.lifetime"));
    }

    @Test
    void sharedClusterIsResetForEachTestAndKeptForTheNextClass() {
        assertEquals(0, failuresOf(SharedCase.class));
        List<String> first = List.copyOf(SERVERS);
        assertEquals(0, failuresOf(SharedCase.class));
        assertEquals(first, SERVERS);
        assertEquals(SERVERS.get(0), SERVERS.get(1));
    }

    @Test
    void clusterInAnInstanceFieldServesOneTest() {
        assertEquals(0, failuresOf(PerTestCase.class));
        assertNotEquals(SERVERS.get(0), SERVERS.get(1));
        assertFalse(listens(SERVERS.get(0)) || listens(SERVERS.get(1)));
    }

    @Test
    void clusterIsUsedOutsideOfJUnitAndByOthers() {
        try (Odradek kafka = Odradek.cluster().nodes(1).start()) {
            String address = kafka.nodes().get(0).listeners().get(0).advertised();
            assertEquals(address, kafka.getBootstrapServers());
        }
        var error = assertThrows(IllegalStateException.class, () -> Odradek.cluster().arguments("--no-such-option").start());
        assertTrue(error.getMessage().contains("--no-such-option"), error.getMessage());
    }

    @Test
    void clusterOfTheEnvironmentIsUsedWithItsTopics() throws Exception {
        try (Odradek kafka = Odradek.cluster().nodes(2).start()) {
            Process other = anotherJvm(kafka.getControl());
            assertEquals(kafka.getBootstrapServers(), new BufferedReader(new InputStreamReader(other.getInputStream())).readLine());
            other.destroyForcibly().waitFor();
            var partitions = kafka.topics().get(0).partitions();
            assertEquals("3 2", partitions.size() + " " + partitions.get(0).replicas().size());
        }
    }

    private static Process anotherJvm(String control) throws IOException {
        String java = ProcessHandle.current().info().command().orElseThrow();
        var builder = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), LifetimeTest.class.getName());
        builder.environment().put("ODRADEK_CONTROL", control);
        return builder.start();
    }

    @Test
    void killedJvmLeavesNoBrokerBehind() throws Exception {
        Process killed = anotherJvm("");
        String servers = new BufferedReader(new InputStreamReader(killed.getInputStream())).readLine();
        assertTrue(listens(servers.split(",")[0]));
        killed.destroyForcibly().waitFor();
        for (long end = System.nanoTime() + 10_000_000_000L; listens(servers.split(",")[0]); ) {
            assertTrue(System.nanoTime() < end, "the broker still listens");
        }
    }

    /** Starts a cluster, prints its address and waits until the JVM is killed. */
    public static void main(String[] arguments) throws InterruptedException {
        System.out.println(Odradek.cluster().nodes(2).topic("orders", 3, 2).getBootstrapServers());
        Thread.currentThread().join();
    }

    private static boolean listens(String server) {
        String[] parts = server.split(":");
        try (Socket socket = new Socket(parts[0], Integer.parseInt(parts[1]))) {
            return socket.isConnected();
        } catch (IOException error) {
            return false;
        }
    }
}
