package io.github.odradekkafka;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.junit.jupiter.api.extension.ParameterResolutionException;

/** Creates clients of kafka-clients, which is an optional dependency, so that this class is loaded only for parameters of their types. */
final class Clients {
    private Clients() {}

    /** Returns a producer or consumer whose serializers are those of the parameter's type arguments, such as {@code <String, Long>}. */
    static AutoCloseable create(Type parameter, String bootstrapServers) {
        Type[] types = parameter instanceof ParameterizedType generic ? generic.getActualTypeArguments() : new Type[] {String.class, String.class};
        Serde<?> key = serde(types[0]);
        Serde<?> value = serde(types[1]);
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", bootstrapServers));
        if (parameter.getTypeName().startsWith(KafkaProducer.class.getName())) {
            return new KafkaProducer<>(settings, key.serializer(), value.serializer());
        }
        settings.putAll(Map.of("group.id", "test-" + UUID.randomUUID(), "auto.offset.reset", "earliest"));
        return new KafkaConsumer<>(settings, key.deserializer(), value.deserializer());
    }

    private static Serde<?> serde(Type type) {
        if (type instanceof Class<?> known) {
            try {
                return Serdes.serdeFrom(known);
            } catch (IllegalArgumentException error) {
                throw new ParameterResolutionException("Kafka has no serializer for " + type + "; create the client in the test", error);
            }
        }
        throw new ParameterResolutionException("the type arguments of a client must be classes such as String or byte[], not " + type);
    }
}
