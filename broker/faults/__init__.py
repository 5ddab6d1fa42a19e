"""Faults: errors, delays and damage that a user orders for the requests of clients.

`options.py` declares the options of a fault, and `creation.py` makes a fault of them. `table.py` is the gate that a connection passes its
requests through. `fault.py` decides which requests a fault hits, and `explanation.py` says why it did not hit others. The other modules are
the acts: `errors.py` and `respond.py` change the response, `corrupt.py` its bytes, and `delivery.py` the moment in which the request is
served or the response written.
"""
