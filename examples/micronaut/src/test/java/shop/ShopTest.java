package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.odradekkafka.Odradek;
import io.github.odradekkafka.OdradekTest;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@OdradekTest(topics = "orders:4", property = "kafka.bootstrap.servers")
@MicronautTest
class ShopTest {
    @Inject Shop shop;

    @Test
    void orderReachesTheShop(Odradek kafka) throws Exception {
        kafka.produce("orders", "one apple");
        assertEquals("one apple", shop.orders().poll(30, TimeUnit.SECONDS));
    }
}
