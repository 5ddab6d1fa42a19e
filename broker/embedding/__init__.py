"""The cluster in a Python program: `Cluster`, `AsyncCluster`, and the handles `cluster.topic("orders")` and `cluster.group("billing")`."""
