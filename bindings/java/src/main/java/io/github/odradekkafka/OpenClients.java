package io.github.odradekkafka;

import java.util.ArrayList;
import java.util.List;

/** The clients that are parameters of a test. */
final class OpenClients {
    private final List<AutoCloseable> clients = new ArrayList<>();

    void add(AutoCloseable client) {
        clients.add(client);
    }

    /** Closes all clients. Throws IllegalStateException if one of them cannot be closed, after the others have been closed. */
    void close() {
        IllegalStateException failure = null;
        for (AutoCloseable client : clients) {
            try {
                client.close();
            } catch (Exception error) {
                failure = new IllegalStateException("a client cannot be closed: " + error, error);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
