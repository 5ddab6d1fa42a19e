package io.github.odradekkafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

@OdradekTest(nodes = 1, topics = "orders:1", settings = "auto.create.topics.enable=false", property = "test.kafka.servers")
class InjectionTest {
    @Test
    void clientsHaveTheSerializersOfTheirTypes(
            KafkaProducer<String, Long> producer, KafkaConsumer<String, Long> consumer, @Bootstrap String servers, Odradek kafka) throws Exception {
        producer.send(new ProducerRecord<>("orders", "a", 3L)).get();
        consumer.subscribe(List.of("orders"));
        var found = consumer.poll(Duration.ofSeconds(10));
        assertEquals(3L, found.iterator().next().value());
        assertEquals(servers, kafka.getBootstrapServers());
        assertEquals(servers, System.getProperty("test.kafka.servers"));
        assertEquals(1, kafka.waitForRecords("orders", 1).size());
    }

    @Test
    void settingsAreThoseOfTheAnnotation(Odradek kafka, KafkaProducer<byte[], byte[]> producer) {
        assertTrue(producer.metrics().size() > 0);
        assertEquals(List.of("orders"), kafka.topics().stream().map(Odradek.TopicInfo::name).toList());
    }
}
