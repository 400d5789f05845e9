"""One form of data per file; each reader returns a `Source`."""
