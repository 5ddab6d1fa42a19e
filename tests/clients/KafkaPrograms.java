import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.Base64;
import org.apache.kafka.common.utils.Exit;
import org.slf4j.LoggerFactory;

/**
 * Runs the main methods of Kafka's command line programs one after the other, because a JVM for each of them would take too long.
 *
 * A line of standard input is a program: its class, its standard input and its arguments, separated by tabs. The answer is a line in Base64
 * with what the program has printed until it ended, and its status if that is not 0.
 */
public class KafkaPrograms {
    static class Ended extends RuntimeException { }

    static void end(int status) {
        if (status != 0) {
            System.out.println("status " + status);
        }
        // A program may catch the exception and print it.
        print(OutputStream.nullOutputStream());
        throw new Ended();
    }

    static void print(OutputStream printed) {
        System.setOut(new PrintStream(printed, true));
        System.setErr(System.out);
    }

    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        LoggerFactory.getLogger("").info("the log is written to the stream that is standard output now");
        Exit.setExitProcedure((status, message) -> end(status));
        Exit.setHaltProcedure((status, message) -> end(status));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            print(printed);
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
            if (!(error.getCause() instanceof Ended)) {
                error.getCause().printStackTrace(System.out);
            }
        }
    }
}
