import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.Base64;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs the main methods of Kafka's command line programs one after the other, because a JVM for each of them would take too long.
 *
 * A line of standard input is a program: its class, its standard input and its arguments, separated by tabs. The answer is a line in Base64
 * with what the program has printed, and its status if that is not 0.
 */
public class KafkaPrograms {
    static class Ended extends RuntimeException {
        final int status;

        Ended(int status) {
            super("status " + status);
            this.status = status;
        }
    }

    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        Exit.setExitProcedure((status, message) -> { throw new Ended(status); });
        Exit.setHaltProcedure((status, message) -> { throw new Ended(status); });
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            System.setOut(new PrintStream(printed, true));
            System.setErr(System.out);
            run(line.split("\t"));
            answers.println(Base64.getEncoder().encodeToString(printed.toByteArray()));
        }
    }

    static void run(String[] parts) throws Exception {
        System.setIn(new ByteArrayInputStream((parts[1] + "\n").getBytes()));
        String[] arguments = Arrays.copyOfRange(parts, 2, parts.length);
        try {
            Class.forName(parts[0]).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException error) {
            if (!(error.getCause() instanceof Ended ended)) {
                error.getCause().printStackTrace(System.out);
            } else if (ended.status != 0) {
                System.out.println("status " + ended.status);
            }
        }
    }
}
