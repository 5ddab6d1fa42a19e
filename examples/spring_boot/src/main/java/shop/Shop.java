package shop;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.kafka.annotation.KafkaListener;

/** A service that takes orders from a topic. */
@SpringBootApplication
public class Shop {
    public final BlockingQueue<String> orders = new LinkedBlockingQueue<>();

    @KafkaListener(
        topics = "orders",
        groupId = "shop",
        properties = "auto.offset.reset=earliest")
    void take(String order) {
        orders.add(order);
    }
}
