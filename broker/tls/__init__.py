"""Certificates and TLS contexts of listeners. Only the edges import this package; the core does not know whether a connection uses TLS."""
