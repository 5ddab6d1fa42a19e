package io.github.odradekkafka;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A Kafka cluster for tests: real brokers in a process of their own, which ends with the tests.
 *
 * <pre>{@code
 * @RegisterExtension
 * static Odradek kafka = Odradek.cluster().nodes(2).topic("orders", 4);
 * }</pre>
 *
 * In a static field, the cluster serves all tests of the class, in another field one test. Outside of JUnit, {@link #start} and
 * {@link #stop} do the same. The report of a failed test is printed to the standard error.
 *
 * <p>If the variable ODRADEK_CONTROL has the address of a running cluster, as below {@code odradek serve --exec} and
 * {@code odradek explore --exec}, that cluster is used, with the topics of the options. Otherwise the program is found as the variable ODRADEK says, as odradek on the PATH, or as the module of python3.
 */
public final class Odradek extends Controls
        implements AutoCloseable, BeforeAllCallback, BeforeEachCallback, AfterTestExecutionCallback, AfterEachCallback, AfterAllCallback,
                ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(Odradek.class);
    private static final Set<String> CLIENTS =
            Set.of("org.apache.kafka.clients.producer.KafkaProducer", "org.apache.kafka.clients.consumer.KafkaConsumer");
    private static final Map<List<String>, ConcurrentLinkedQueue<BrokerProcess>> IDLE = new ConcurrentHashMap<>();

    private final List<String> arguments = new ArrayList<>();
    private String address = System.getenv("ODRADEK_CONTROL");
    private String property = "";
    private String formerProperty;
    private boolean isShared;
    private boolean isOfClass;
    private BrokerProcess process;
    private ControlClient client;
    private String bootstrapServers;

    private Odradek() {}

    /** Returns a cluster of two nodes that is not started yet. */
    public static Odradek cluster() {
        return new Odradek();
    }

    /** Returns a running cluster, which is not stopped. The address is that of its control listener. */
    public static Odradek running(String address) {
        Odradek kafka = new Odradek();
        kafka.address = address;
        return kafka;
    }

    /** Sets the number of nodes. */
    public Odradek nodes(int count) {
        return arguments("--nodes", String.valueOf(count));
    }

    /** Creates a topic at the start. */
    public Odradek topic(String name, int partitions) {
        return arguments("--topic", name + ":" + partitions);
    }

    /** Creates a topic with replicas at the start. */
    public Odradek topic(String name, int partitions, int replicas) {
        return arguments("--topic", name + ":" + partitions + ":" + replicas);
    }

    /** Sets a setting of Kafka for all nodes. */
    public Odradek set(String key, String value) {
        return arguments("--set", key + "=" + value);
    }

    /** Adds arguments of {@code odradek serve}, such as "--as-version", "3.9". */
    public Odradek arguments(String... words) {
        arguments.addAll(Arrays.asList(words));
        return this;
    }

    /**
     * Shares the cluster with other classes that ask for the same one, and resets it before each test, which takes milliseconds. Classes
     * that run at the same time never share a cluster.
     */
    public Odradek shared() {
        isShared = true;
        return this;
    }

    /** Sets a system property to the addresses of the brokers while the cluster runs. It is for classes that do not run in parallel. */
    public Odradek property(String name) {
        property = name;
        return this;
    }

    /** Starts the cluster, unless it runs already. Throws IllegalStateException if that fails. */
    public synchronized Odradek start() {
        if (client == null) {
            boolean isRunning = address != null && !address.isEmpty();
            client = new ControlClient(isRunning ? address : startProcess().control());
            bootstrapServers = status().bootstrapServers();
            if (process == null) {
                createMissingTopics();
            }
            if (!property.isEmpty()) {
                formerProperty = System.setProperty(property, bootstrapServers);
            }
        }
        return this;
    }

    /** Creates the topics of the options that a running cluster does not have. */
    private void createMissingTopics() {
        List<String> existing = topics().stream().map(TopicInfo::name).toList();
        for (int index = 0; index < arguments.size() - 1; index++) {
            String[] topic = arguments.get(index + 1).split(":");
            if (arguments.get(index).equals("--topic") && topic.length > 1 && !existing.contains(topic[0])) {
                createTopic(topic[0], with -> {
                    with.partitions(Long.parseLong(topic[1]));
                    if (topic.length > 2) {
                        with.replicationFactor(Long.parseLong(topic[2]));
                    }
                });
            }
        }
    }

    private BrokerProcess startProcess() {
        process = isShared ? idle().poll() : null;
        if (process == null) {
            process = new BrokerProcess(arguments);
        }
        return process;
    }

    private ConcurrentLinkedQueue<BrokerProcess> idle() {
        return IDLE.computeIfAbsent(List.copyOf(arguments), key -> new ConcurrentLinkedQueue<>());
    }

    /** Stops the cluster. A shared one is kept for the next class, and ends with the JVM. */
    public synchronized void stop() {
        if (client == null) {
            return;
        }
        if (!property.isEmpty()) {
            if (formerProperty == null) {
                System.clearProperty(property);
            } else {
                System.setProperty(property, formerProperty);
            }
        }
        client = null;
        if (process != null && isShared) {
            idle().add(process);
        } else if (process != null) {
            process.stop();
        }
        process = null;
    }

    @Override
    public void close() {
        stop();
    }

    /** Returns the address of the control listener, for programs that use the running cluster. */
    public String getControl() {
        start();
        return client.address();
    }

    /** Returns the addresses of all nodes, as in {@code bootstrap.servers}. */
    public String getBootstrapServers() {
        start();
        return bootstrapServers;
    }

    /**
     * Returns the configuration of a client: the addresses of the brokers, serializers of Strings, consumers that read from the start of
     * topics and commit when they are told to, and further names and values in turn.
     */
    public Map<String, Object> clientConfig(Object... namesAndValues) {
        Map<String, Object> config = Options.arguments(
                "bootstrap.servers", getBootstrapServers(), "auto.offset.reset", "earliest", "enable.auto.commit", false);
        for (String each : List.of("key", "value")) {
            config.put(each + ".serializer", "org.apache.kafka.common.serialization.StringSerializer");
            config.put(each + ".deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        }
        config.putAll(Options.arguments(namesAndValues));
        return config;
    }

    /** Writes records that have these values and neither keys nor headers. */
    public List<RecordPosition> produce(String topic, String... values) {
        return produce(topic, Stream.of(values).map(value -> new NewRecord().value(value)).toList());
    }

    @Override
    Object get(String path, Map<String, Object> given) {
        return running().get(path, given);
    }

    @Override
    Object post(String path, Map<String, Object> given) {
        return running().post(path, given);
    }

    private synchronized ControlClient running() {
        if (client == null) {
            throw new IllegalStateException("the cluster is not running; JUnit starts one that is annotated with @RegisterExtension");
        }
        return client;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        isOfClass = true;
        start();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        start();
        if (isShared && process != null) {
            reset();
        }
        context.getStore(NAMESPACE).put(this, wire().mark());
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        if (context.getExecutionException().isPresent()) {
            long since = context.getStore(NAMESPACE).get(this, Long.class);
            System.err.println(context.getUniqueId() + "\n" + Report.of(this, since));
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        closeClients(context);
        if (!isOfClass) {
            stop();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        closeClients(context);
        stop();
    }

    /** Closes the clients that are parameters of the methods with this context. */
    private void closeClients(ExtensionContext context) {
        OpenClients clients = context.getStore(NAMESPACE).remove(OpenClients.class, OpenClients.class);
        if (clients != null) {
            clients.close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Odradek.class || CLIENTS.contains(type.getName()) || (type == String.class && parameter.isAnnotated(Bootstrap.class));
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        start();
        Class<?> type = parameter.getParameter().getType();
        if (type == Odradek.class) {
            return this;
        }
        if (type == String.class) {
            return getBootstrapServers();
        }
        AutoCloseable created = Clients.create(parameter.getParameter().getParameterizedType(), getBootstrapServers());
        openClients(context).add(created);
        return created;
    }

    private static OpenClients openClients(ExtensionContext context) {
        ExtensionContext.Store store = context.getStore(NAMESPACE);
        OpenClients clients = store.get(OpenClients.class, OpenClients.class);
        if (clients == null) {
            clients = new OpenClients();
            store.put(OpenClients.class, clients);
        }
        return clients;
    }
}
