"""The asyncio side: listening sockets, transports, and the turns of the event loop."""
