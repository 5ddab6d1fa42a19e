package shop;

import io.micronaut.configuration.kafka.annotation.KafkaListener;
import io.micronaut.configuration.kafka.annotation.OffsetReset;
import io.micronaut.configuration.kafka.annotation.Topic;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

@KafkaListener(groupId = "shop", offsetReset = OffsetReset.EARLIEST)
public class Shop {
    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();

    @Topic("orders")
    void take(String order) {
        orders.add(order);
    }

    BlockingQueue<String> orders() {
        return orders;
    }
}
