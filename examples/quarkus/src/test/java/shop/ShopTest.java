package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.odradekkafka.Odradek;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@QuarkusTest
@QuarkusTestResource(KafkaResource.class)
class ShopTest {
    @Inject Shop shop;
    Odradek kafka;

    @Test
    void orderReachesTheShop() throws Exception {
        kafka.produce("orders", "one apple");
        assertEquals("one apple", shop.orders().poll(30, TimeUnit.SECONDS));
    }
}
