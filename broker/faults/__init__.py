"""Faults: errors, delays and damage that a user orders for the requests of clients.

`table.py` is the gate that a connection passes its requests through. `match.py` decides which requests a fault hits, and explains why it
did not hit others. The other modules are the acts: `errors.py` and `respond.py` change the response, `delivery.py` and `corrupt.py` the
bytes and the moment in which they are written, `hang.py` the moment in which the request is served.
"""
