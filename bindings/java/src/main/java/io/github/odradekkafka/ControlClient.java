package io.github.odradekkafka;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Sends requests to a control listener. A control that only reads is a GET, every other one a POST with a JSON object. */
final class ControlClient {
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final String address;

    ControlClient(String address) {
        this.address = address;
    }

    String address() {
        return address;
    }

    Object get(String path, Map<String, Object> arguments) {
        List<String> query = new ArrayList<>();
        arguments.forEach((name, value) -> {
            for (Object each : value instanceof Iterable<?> items ? items : List.of(value)) {
                query.add(name + "=" + URLEncoder.encode(Json.inQuery(each), StandardCharsets.UTF_8));
            }
        });
        return send(request(path + "?" + String.join("&", query)).GET());
    }

    Object post(String path, Map<String, Object> arguments) {
        HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(Json.write(arguments));
        return send(request(path).header("Content-Type", "application/json").POST(body));
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + address + path));
        String token = System.getenv("ODRADEK_CONTROL_TOKEN");
        return token == null ? request : request.header("Authorization", "Bearer " + token);
    }

    private Object send(HttpRequest.Builder request) {
        HttpResponse<String> response;
        try {
            response = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException error) {
            throw new ControlException(0, "the cluster does not answer at " + address + ": " + error, null, null, error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new ControlException(0, "interrupted while the cluster answered", null, null, error);
        }
        Object value = response.body().isEmpty() ? null : Json.read(response.body());
        if (response.statusCode() >= 300) {
            Map<String, Object> problem = Json.object(value);
            String detail = (String) problem.get("detail");
            throw new ControlException(response.statusCode(), detail, (String) problem.get("parameter"), (String) problem.get("code"), null);
        }
        return value;
    }
}
