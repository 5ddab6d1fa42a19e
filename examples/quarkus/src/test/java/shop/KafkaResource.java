package shop;

import io.github.odradekkafka.Odradek;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.util.Map;

public class KafkaResource implements QuarkusTestResourceLifecycleManager {
    private final Odradek kafka = Odradek.cluster().topic("orders", 4);

    @Override
    public Map<String, String> start() {
        return Map.of("kafka.bootstrap.servers", kafka.getBootstrapServers());
    }

    @Override
    public void inject(TestInjector injector) {
        injector.injectIntoFields(kafka, new TestInjector.MatchesType(Odradek.class));
    }

    @Override
    public void stop() {
        kafka.stop();
    }
}
