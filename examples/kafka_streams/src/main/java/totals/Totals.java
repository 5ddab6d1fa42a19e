package totals;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/** Counts the orders of each customer. */
public class Totals {
    public static Topology topology() {
        var builder = new StreamsBuilder();
        builder.<String, String>stream("orders")
            .groupByKey()
            .count(Materialized.as(Stores.inMemoryKeyValueStore("counts")))
            .mapValues(count -> count.toString())
            .toStream()
            .to("totals", Produced.with(Serdes.String(), Serdes.String()));
        return builder.build();
    }
}
