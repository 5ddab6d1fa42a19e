package shop;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.eclipse.microprofile.reactive.messaging.Incoming;

@ApplicationScoped
public class Shop {
    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();

    @Incoming("orders")
    void take(String order) {
        orders.add(order);
    }

    BlockingQueue<String> orders() {
        return orders;
    }
}
