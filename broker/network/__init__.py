"""The asyncio edge: listening sockets, transports, and the callbacks of the event loop."""
