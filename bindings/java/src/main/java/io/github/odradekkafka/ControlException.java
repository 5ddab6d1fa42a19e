package io.github.odradekkafka;

/** The answer of a cluster that refuses a control, or the failure to reach the cluster (status 0). */
public final class ControlException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final String parameter;
    private final String code;

    ControlException(int status, String detail, String parameter, String code, Throwable cause) {
        super(detail, cause);
        this.status = status;
        this.parameter = parameter;
        this.code = code;
    }

    /** Returns 400 for an invalid argument, 409 for what the cluster refuses, 504 for a condition that did not become true in time. */
    public int status() {
        return status;
    }

    /** Returns the name of the invalid argument, null if there is none. */
    public String parameter() {
        return parameter;
    }

    /** Returns the name of Kafka's error code, null if there is none. */
    public String code() {
        return code;
    }
}
