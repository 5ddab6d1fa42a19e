package io.github.odradekkafka;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** A running {@code odradek serve}. It ends when its standard input does, which the system closes even if the JVM is killed. */
final class BrokerProcess {
    private static final int START_TIMEOUT_S = 120;
    private static final int STOP_TIMEOUT_S = 10;
    private static final int KEPT_LINES = 100;

    private final Process process;
    private final CompletableFuture<String> control = new CompletableFuture<>();
    private final Deque<String> errors = new ArrayDeque<>();

    /** Starts the process and waits until its listeners accept connections. Throws IllegalStateException if that fails. */
    BrokerProcess(List<String> arguments) {
        List<String> words = new ArrayList<>(program());
        words.addAll(List.of("serve", "--port", "0", "--control", "127.0.0.1:0", "--quiet", "--exit-with-parent"));
        words.addAll(arguments);
        try {
            process = new ProcessBuilder(words).start();
        } catch (IOException error) {
            throw new IllegalStateException("odradek cannot be started: install it, or set ODRADEK to the path of the program", error);
        }
        Thread ended = read(process.getErrorStream(), this::keep);
        read(process.getInputStream(), line -> {
            if (line.startsWith("control=")) {
                control.complete(line.substring("control=".length()));
            }
        });
        process.onExit().thenRun(() -> control.completeExceptionally(new IllegalStateException("it has ended before it was ready")));
        waitUntilReady(ended);
    }

    private static List<String> program() {
        String named = System.getenv("ODRADEK");
        if (named != null && !named.isEmpty()) {
            return named.endsWith(".pyz") ? List.of("python3", named) : List.of(named);
        }
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            for (String name : List.of("odradek", "odradek.exe")) {
                File found = new File(folder, name);
                if (found.isFile() && found.canExecute()) {
                    return List.of(found.getPath());
                }
            }
        }
        return List.of("python3", "-m", "odradek");
    }

    private static Thread read(InputStream stream, Consumer<String> line) {
        Thread reader = new Thread(() -> new BufferedReader(new java.io.InputStreamReader(stream, StandardCharsets.UTF_8)).lines().forEach(line));
        reader.setDaemon(true);
        reader.start();
        return reader;
    }

    private synchronized void keep(String line) {
        errors.add(line);
        if (errors.size() > KEPT_LINES) {
            errors.remove();
        }
    }

    private synchronized String errors() {
        return String.join("\n", errors);
    }

    private void waitUntilReady(Thread readsErrors) {
        try {
            control.get(START_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException | InterruptedException error) {
            process.destroyForcibly();
            join(readsErrors);
            String reason = error instanceof ExecutionException ? error.getCause().getMessage() : error.toString();
            throw new IllegalStateException("odradek was not started: " + reason + "\n" + errors(), error);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join(TimeUnit.SECONDS.toMillis(STOP_TIMEOUT_S));
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the address of the control listener. */
    String control() {
        return control.join();
    }

    void stop() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(STOP_TIMEOUT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException | InterruptedException error) {
            process.destroyForcibly();
        }
    }
}
