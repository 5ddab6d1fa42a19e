package io.github.odradekkafka;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Starts a cluster before the tests of a class and stops it after them. Test methods get parameters of the types {@link Odradek},
 * {@code KafkaProducer} and {@code KafkaConsumer}, and Strings with {@link Bootstrap}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(OdradekExtension.class)
public @interface OdradekTest {
    /** The number of nodes. */
    int nodes() default 2;

    /** Topics as name:partitions or name:partitions:replicas. */
    String[] topics() default {};

    /** Settings of Kafka as key=value. */
    String[] settings() default {};

    /** Further arguments of {@code odradek serve}. */
    String[] arguments() default {};

    /** Whether the cluster is shared with other classes, and reset before each test. */
    boolean shared() default false;

    /** A system property that gets the addresses of the brokers, such as spring.kafka.bootstrap-servers. */
    String property() default "";
}
