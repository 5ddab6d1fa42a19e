package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.odradekkafka.Odradek;
import io.github.odradekkafka.OdradekTest;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.kafka.core.KafkaTemplate;

@SpringBootTest
@OdradekTest(topics = "orders:4", property = "spring.kafka.bootstrap-servers")
class ShopTest {
    @Autowired Shop shop;
    @Autowired KafkaTemplate<String, String> template;

    @Test
    void orderReachesTheShop() throws Exception {
        template.send("orders", "alice", "one apple").get();
        assertEquals("one apple", shop.orders.poll(30, TimeUnit.SECONDS));
    }

    @Test
    void orderReachesTheShopAfterTheCrashOfANode(Odradek kafka) throws Exception {
        kafka.stopNode(1, with -> with.graceful(false));
        kafka.startNode(1);
        template.send("orders", "bob", "two pears").get();
        assertEquals("two pears", shop.orders.poll(30, TimeUnit.SECONDS));
        kafka.waitForGroup("shop", with -> with.lag(0));
    }
}
