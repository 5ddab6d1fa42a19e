"""The state and the traffic of a cluster as metrics in OpenMetrics text, which Prometheus collects from the control listener."""
