"""Faults planted on purpose, and whether runs survive them: `make faults` prints the table."""
