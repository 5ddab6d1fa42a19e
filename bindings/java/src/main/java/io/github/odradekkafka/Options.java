package io.github.odradekkafka;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The JSON object that the methods of a subclass fill. */
abstract class Options {
    private final Map<String, Object> values = new LinkedHashMap<>();

    final void set(String name, Object value) {
        values.put(name, value);
    }

    /** Returns these options and further arguments, which are names and values in turn. */
    final Map<String, Object> with(Object... namesAndValues) {
        Map<String, Object> all = arguments(namesAndValues);
        all.putAll(values);
        return all;
    }

    static Map<String, Object> arguments(Object... namesAndValues) {
        Map<String, Object> all = new LinkedHashMap<>();
        for (int index = 0; index < namesAndValues.length; index += 2) {
            all.put((String) namesAndValues[index], namesAndValues[index + 1]);
        }
        return all;
    }

    static List<String> list(String... items) {
        return List.of(items);
    }

    static List<Long> list(long... items) {
        return Arrays.stream(items).boxed().toList();
    }
}
