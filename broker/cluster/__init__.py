"""The state that the emulated nodes share, and the state of each node."""
