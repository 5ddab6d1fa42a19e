package io.github.odradekkafka;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Tells what happened on a cluster in a test: the story of the requests, groups with their lag, faults with their hits, the doctor's findings. */
final class Report {
    private Report() {}

    /** Returns the report since an entry of the record. A part that cannot be made says why. */
    static String of(Odradek kafka, long since) {
        List<String> lines = new ArrayList<>();
        lines.add("what happened on the cluster " + kafka.getBootstrapServers() + " in this test:");
        for (Supplier<List<String>> part : List.<Supplier<List<String>>>of(
                () -> story(kafka, since), () -> groups(kafka), () -> faults(kafka), () -> findings(kafka, since))) {
            try {
                lines.addAll(part.get());
            } catch (RuntimeException error) {
                lines.add("(a part of the report cannot be made: " + error.getMessage() + ")");
            }
        }
        return String.join("\n", lines);
    }

    private static List<String> story(Odradek kafka, long since) {
        String story = kafka.wire().story(with -> with.since(since));
        return story.isBlank() ? List.of("  no request was served") : story.lines().map(line -> "  " + line).toList();
    }

    private static List<String> groups(Odradek kafka) {
        return kafka.groups().stream()
                .map(group -> String.format("group %s: %s, %d members, %s", group.groupId(), group.state(), group.members().size(),
                        group.lag() == null ? "unknown lag" : "lag " + group.lag()))
                .toList();
    }

    private static List<String> faults(Odradek kafka) {
        return kafka.listFaults().stream()
                .map(fault -> String.format("fault %d (%s): %d hits%s", fault.fault(), fault.options(), fault.hits(),
                        fault.hits() == 0 && !fault.missed().isEmpty() ? "; " + fault.missed() : ""))
                .toList();
    }

    private static List<String> findings(Odradek kafka, long since) {
        return kafka.doctor(with -> with.since(since)).stream()
                .map(finding -> String.format("doctor: %s: %s%n  problem: %s%n  advice:  %s", finding.name(), finding.client(),
                        finding.problem(), finding.advice()))
                .toList();
    }
}
