"""Shows the wire: the exchanges of clients and brokers, from the broker's record or from a capture file."""
