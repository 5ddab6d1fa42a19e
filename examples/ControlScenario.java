// Tests an application that consumes the topic `orders` in the group `billing`, with the JDK only. Start a cluster and the application, and
// then this program (Java 17 or later):
//
//   odradek serve --control 127.0.0.1:9099
//   java examples/ControlScenario.java 127.0.0.1:9099
//
// A control that only reads is a GET with its parameters in the query, every other one a POST with a JSON object.

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class ControlScenario {
    private static final String CONSUMED = "/group/wait?group=billing&members=1&state=Stable&lag=0&timeout_s=60";

    private final HttpClient client = HttpClient.newHttpClient();
    private final String address;

    private ControlScenario(String address) {
        this.address = address;
    }

    public static void main(String[] arguments) throws Exception {
        new ControlScenario(arguments[0]).run();
        System.out.println("done");
    }

    private void run() throws Exception {
        step("create the topic and wait for the application");
        post("/topic/create", "{\"topic\": \"orders\", \"partitions\": 2}");
        post("/record/produce", "{\"topic\": \"orders\", \"records\": [\"first\", {\"key\": \"42\", \"value\": \"second\"}]}");
        get(CONSUMED);

        step("keep this state");
        long snapshot = number("id", post("/state/snapshot", "{}"));

        step("let fetches of the application fail twice");
        String failing = "{\"api\": \"Fetch\", \"topic\": \"orders\", \"error\": \"NOT_LEADER_OR_FOLLOWER\", \"times\": 2}";
        long fault = number("fault", post("/fault/add", failing));
        post("/record/produce", "{\"topic\": \"orders\", \"records\": [\"third\"]}");
        get("/fault/wait?hits=2&timeout_s=60&fault=" + fault);
        get(CONSUMED);
        post("/fault/remove", "{\"fault\": " + fault + "}");

        step("stop a node and start it again");
        post("/node/stop", "{\"node\": 2}");
        post("/record/produce", "{\"topic\": \"orders\", \"records\": [\"fourth\"]}");
        get(CONSUMED);
        post("/node/start", "{\"node\": 2}");

        step("let ten minutes pass: the session of the application expires, and it joins again");
        post("/clock/advance", "{\"duration\": \"10m\"}");
        get(CONSUMED);

        step("a wait that cannot succeed is a gateway time-out, and a mistake names the parameter");
        String missing = problem(504, "GET", "/record/wait?topic=orders&n=1000&timeout_s=0", null);
        check(missing.contains("4 of 1000 records"), missing);
        String unknown = problem(400, "POST", "/node/stop", "{\"node\": 7}");
        check(unknown.contains("\"parameter\": \"node\""), unknown);

        step("return to the state that was kept, which has two records");
        post("/state/restore", "{\"snapshot\": " + snapshot + "}");
        String records = get("/record/list?topic=orders");
        check(records.contains("\"second\"") && !records.contains("\"third\""), records);
        get(CONSUMED);

        step("return to the state after start, without the topic");
        post("/state/reset", "{}");
        problem(400, "GET", "/record/list?topic=orders", null);
    }

    private String get(String path) throws IOException, InterruptedException {
        return send("GET", path, null, 200);
    }

    private String post(String path, String body) throws IOException, InterruptedException {
        return send("POST", path, body, 200, 204);
    }

    /** Returns the problem (RFC 9457) with which a request is refused. */
    private String problem(int status, String method, String path, String body) throws IOException, InterruptedException {
        return send(method, path, body, status);
    }

    private String send(String method, String path, String body, int... expected) throws IOException, InterruptedException {
        HttpRequest.BodyPublisher publisher =
            body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + path))
            .header("Content-Type", "application/json")
            .method(method, publisher)
            .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        for (int status : expected) {
            if (response.statusCode() == status) {
                return response.body();
            }
        }
        throw new IllegalStateException(method + " " + path + ": " + response.statusCode() + " " + response.body());
    }

    private static long number(String field, String json) {
        Matcher matcher = Pattern.compile("\"" + field + "\": (\\d+)").matcher(json);
        check(matcher.find(), json);
        return Long.parseLong(matcher.group(1));
    }

    private static void check(boolean condition, String found) {
        if (!condition) {
            throw new IllegalStateException(found);
        }
    }

    private static void step(String text) {
        System.out.println("* " + text);
    }
}
