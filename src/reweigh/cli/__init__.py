"""The command line: one verb per file. Heavy modules are imported inside the verbs."""
