"""Record batches: formats, building, validation, compression, checksums, and the conversion from and to message sets."""
