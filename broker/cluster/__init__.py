"""The state that the emulated nodes share, and the nodes themselves."""
