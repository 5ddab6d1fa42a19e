package io.github.odradekkafka;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

/** A key, a value or the value of a header. It is equal to other bytes with the same content. */
public final class Bytes {
    private final byte[] content;

    private Bytes(byte[] content) {
        this.content = content;
    }

    /** Returns a copy of an array. */
    public static Bytes of(byte[] content) {
        return new Bytes(content.clone());
    }

    /** Returns the UTF-8 encoding of a text. */
    public static Bytes of(String text) {
        return new Bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    static Bytes fromJson(Object json) {
        return json instanceof Map<?, ?> object ? new Bytes(Base64.getDecoder().decode((String) object.get("base64"))) : of((String) json);
    }

    Object toJson() {
        return Map.of("base64", Base64.getEncoder().encodeToString(content));
    }

    /** Returns a copy of the bytes. */
    public byte[] toArray() {
        return content.clone();
    }

    /** Returns the bytes as UTF-8. */
    public String text() {
        return new String(content, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return text();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes bytes && Arrays.equals(content, bytes.content);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(content);
    }
}
