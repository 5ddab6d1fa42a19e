package io.github.odradekkafka;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads and writes JSON, because the JDK does not. Objects are maps, arrays are lists, and numbers are Long or Double. The methods with the
 * names of types make values of these types from JSON values.
 */
final class Json {
    private final String text;
    private int position;

    private Json(String text) {
        this.text = text;
    }

    /** Returns the value that a text describes. Throws IllegalArgumentException if it is not JSON. */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skipSpace();
        if (json.position < text.length()) {
            throw json.unexpected();
        }
        return value;
    }

    /** Returns the text of a value. Durations become seconds, times ISO 8601, and options objects. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.toString();
    }

    /** Returns the text with which a value is written in a query. */
    static String inQuery(Object value) {
        return value instanceof String || value instanceof Instant ? value.toString() : write(value);
    }

    static String text(Object json) {
        return (String) json;
    }

    static long integer(Object json) {
        return ((Number) json).longValue();
    }

    static double number(Object json) {
        return ((Number) json).doubleValue();
    }

    static boolean bool(Object json) {
        return (Boolean) json;
    }

    static Instant time(Object json) {
        return OffsetDateTime.parse((String) json).toInstant();
    }

    static Bytes bytes(Object json) {
        return Bytes.fromJson(json);
    }

    static Header header(Object json) {
        List<?> pair = (List<?>) json;
        return new Header((String) pair.get(0), nullable(pair.get(1), Bytes::fromJson));
    }

    static Object any(Object json) {
        return json;
    }

    static <T> T nullable(Object json, Function<Object, T> reader) {
        return json == null ? null : reader.apply(json);
    }

    static <T> List<T> list(Object json, Function<Object, T> reader) {
        List<T> items = new ArrayList<>();
        ((List<?>) json).forEach(item -> items.add(reader.apply(item)));
        return items;
    }

    static <T> Map<String, T> map(Object json, Function<Object, T> reader) {
        Map<String, T> entries = new LinkedHashMap<>();
        object(json).forEach((name, value) -> entries.put(name, reader.apply(value)));
        return entries;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object json) {
        return (Map<String, Object>) json;
    }

    private static void append(StringBuilder out, Object value) {
        if (value instanceof Options options) {
            append(out, options.with());
        } else if (value instanceof Map<?, ?> map) {
            List<String> members = new ArrayList<>();
            map.forEach((name, member) -> members.add(write(name) + ":" + write(member)));
            out.append('{').append(String.join(",", members)).append('}');
        } else if (value instanceof Iterable<?> items) {
            List<String> members = new ArrayList<>();
            items.forEach(item -> members.add(write(item)));
            out.append('[').append(String.join(",", members)).append(']');
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Bytes || value instanceof byte[]) {
            append(out, (value instanceof Bytes bytes ? bytes : Bytes.of((byte[]) value)).toJson());
        } else if (value instanceof Duration duration) {
            out.append(duration.toNanos() / 1e9);
        } else {
            quote(out, value.toString());
        }
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                out.append('\\').append(each);
            } else if (each < ' ' || Character.isSurrogate(each)) {
                out.append(String.format("\\u%04x", (int) each));
            } else {
                out.append(each);
            }
        }
        out.append('"');
    }

    private Object value() {
        skipSpace();
        char first = position < text.length() ? text.charAt(position) : 0;
        if (first == '{') {
            return object();
        } else if (first == '[') {
            return array();
        } else if (first == '"') {
            return string();
        }
        int start = position;
        while (position < text.length() && "+-.".indexOf(text.charAt(position)) >= 0 || isLetterOrDigit()) {
            position++;
        }
        return word(text.substring(start, position));
    }

    private boolean isLetterOrDigit() {
        return position < text.length() && Character.isLetterOrDigit(text.charAt(position));
    }

    private Object word(String word) {
        switch (word) {
            case "null":
                return null;
            case "true":
            case "false":
                return Boolean.valueOf(word);
            default:
                try {
                    return word.matches("-?[0-9]+") ? (Object) Long.valueOf(word) : (Object) Double.valueOf(word);
                } catch (NumberFormatException error) {
                    throw unexpected();
                }
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        for (expect('{'); !accept('}'); expectUnless(',', '}')) {
            String name = string();
            expect(':');
            members.put(name, value());
        }
        return members;
    }

    private List<Object> array() {
        List<Object> items = new ArrayList<>();
        for (expect('['); !accept(']'); expectUnless(',', ']')) {
            items.add(value());
        }
        return items;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        for (expect('"'); position < text.length(); position++) {
            char each = text.charAt(position);
            if (each == '"') {
                position++;
                return out.toString();
            }
            out.append(each == '\\' ? escaped() : each);
        }
        throw unexpected();
    }

    /** Returns the character of an escape; the position is then that of its last character. */
    private char escaped() {
        char kind = ++position < text.length() ? text.charAt(position) : 0;
        if (kind == 'u' && position + 4 < text.length()) {
            position += 4;
            return (char) Integer.parseInt(text.substring(position - 3, position + 1), 16);
        }
        int index = "bfnrt".indexOf(kind);
        return index < 0 ? kind : "\b\f\n\r\t".charAt(index);
    }

    private boolean accept(char wanted) {
        skipSpace();
        boolean isNext = position < text.length() && text.charAt(position) == wanted;
        position += isNext ? 1 : 0;
        return isNext;
    }

    private void expect(char wanted) {
        if (!accept(wanted)) {
            throw unexpected();
        }
    }

    /** Reads the first character, unless the second one is next, which ends a list of members. */
    private void expectUnless(char wanted, char end) {
        skipSpace();
        if (position >= text.length() || text.charAt(position) != end) {
            expect(wanted);
        }
    }

    private void skipSpace() {
        while (position < text.length() && Character.isWhitespace(text.charAt(position))) {
            position++;
        }
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("not JSON at character " + position + ": " + text);
    }
}
