package parallel;

import io.github.odradekkafka.Odradek;
import io.github.odradekkafka.OdradekTest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Prints how long the start and stop of a cluster take, and a test with a shared cluster. */
@OdradekTest(nodes = 2, topics = "orders:4", shared = true)
class DurationTest {
    private static final List<Long> BEGUN = new ArrayList<>();

    @RepeatedTest(200)
    void testWithSharedClusterChangesIt(Odradek kafka) {
        BEGUN.add(System.nanoTime());
        kafka.produce("orders", "one apple");
    }

    @Test
    void startAndStop() {
        List<Double> seconds = new ArrayList<>();
        for (int index = 0; index < 20; index++) {
            long before = System.nanoTime();
            try (Odradek kafka = Odradek.cluster().nodes(2).topic("orders", 4).start()) {
                kafka.getBootstrapServers();
            }
            seconds.add((System.nanoTime() - before) / 1e9);
        }
        seconds.sort(null);
        System.out.printf("figure: start and stop of a cluster: %.3f s (median), %.3f s (slowest)%n", seconds.get(10), seconds.get(19));
    }

    @AfterAll
    static void print() {
        double milliseconds = (BEGUN.get(BEGUN.size() - 1) - BEGUN.get(0)) / 1e6 / (BEGUN.size() - 1);
        System.out.printf("figure: a test that writes a record to a shared cluster: %.2f ms%n", milliseconds);
    }
}
