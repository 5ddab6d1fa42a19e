"""The parameters and results of controls outside of Python: as JSON, as text on the command line, as schemas and as documentation."""
