"""The commands of the command line: each module adds the options of one command to its parser and runs it."""
