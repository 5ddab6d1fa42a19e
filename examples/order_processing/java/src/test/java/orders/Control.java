package orders;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The control listener of a cluster. A control that only reads is a GET, every other one a POST with a JSON object. */
class Control {
    private final HttpClient client = HttpClient.newHttpClient();
    private final String address;

    Control(String address) {
        this.address = address;
    }

    String get(String path) throws IOException, InterruptedException {
        return send(request(path).GET());
    }

    String post(String path, String body) throws IOException, InterruptedException {
        return send(request(path).header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    /** Returns the value of a field of a JSON object, without quotes. */
    static String field(String name, String json) {
        Matcher matcher = Pattern.compile("\"" + name + "\": \"?([^\",}]+)").matcher(json);
        if (!matcher.find()) {
            throw new IllegalArgumentException("no " + name + " in " + json);
        }
        return matcher.group(1);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://" + address + path));
    }

    private String send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() >= 300) {
            throw new IOException(response.statusCode() + " " + response.body());
        }
        return response.body();
    }
}
