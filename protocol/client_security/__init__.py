"""A client's side of TLS and SASL: its settings under Kafka's names, the messages of each mechanism, and the TLS context.

The folder opens no connection. `login.py` exchanges messages by a function that its caller provides.
"""
