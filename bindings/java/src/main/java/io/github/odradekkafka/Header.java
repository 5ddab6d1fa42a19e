package io.github.odradekkafka;

/** A header of a record. The value may be null. */
public record Header(String name, Bytes value) {}
