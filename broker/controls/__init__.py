"""The operations that a user can carry out on a running cluster, declared once for Python, HTTP and the command line."""
