"""The path of a request through one connection: bytes, frames, requests in order, responses. No file here does I/O."""
